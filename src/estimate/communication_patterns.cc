#include "estimate/communication_patterns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "network/network.h"
#include "network/program_run.h"

namespace orrery {
namespace {

constexpr Bytes kProbe{1 << 30};
constexpr double kUnused = 1e-6;  // a smaller share of a link's time is none

// So that links used alike are recognized.
double rounded(double share) { return std::round(share * 1e9) / 1e9; }

}  // namespace

void add_beside(CommunicationPattern& pattern, const CommunicationPattern& beside) {
  const double longer = beside.seconds_per_byte / pattern.seconds_per_byte;
  for (const ResourceUse& use : beside.links) {
    const double share = std::min(1.0, use.weight * longer);
    if (share >= kUnused) pattern.links.push_back({use.resource, rounded(share)});
  }
}

Result<std::uint32_t> CommunicationPatterns::find(const PatternKey& key, const Make& make) {
  const auto known = numbers_.find(key);
  if (known != numbers_.end()) return known->second;
  ORRERY_TRY(CommunicationPattern pattern, make());
  const auto number = static_cast<std::uint32_t>(patterns_.size());
  patterns_.push_back(std::move(pattern));
  numbers_.emplace(key, number);
  return number;
}

Result<CommunicationPattern> CommunicationPatterns::of_program(
    const Program& program, const ChangedLevels& seen,
    const std::vector<std::vector<std::uint32_t>>& placements) {
  ORRERY_TRY(const Network network, network_of(with_levels(fabric_, seen)));
  ORRERY_TRY(const ProgramRun done, run(program, kProbe, network, placements, Routing::spray));
  CommunicationPattern out;
  out.seconds_per_byte = done.time / Seconds(1) / kProbe.value();
  double most = 0;
  for (std::uint32_t l = 0; l < done.on_links.size(); ++l) {
    const DirectedLink& link = network.links()[l];
    const double share = done.on_links[l] / link.capacity / done.time;
    if (share < kUnused) continue;
    out.links.push_back({l, rounded(share)});
    if (share > most * (1 + 1e-9)) {
      most = share;
      out.busiest = network.levels()[link.level].name;
    }
  }
  if (level_of_link_.empty()) {
    for (const DirectedLink& link : network.links()) {
      level_of_link_.push_back(network.levels()[link.level].name);
    }
  }
  return out;
}

std::size_t CommunicationPatterns::fold() {
  std::vector<std::vector<std::pair<std::uint32_t, double>>> users(level_of_link_.size());
  for (std::uint32_t p = 0; p < patterns_.size(); ++p) {
    for (const ResourceUse& use : patterns_[p].links) {
      users[use.resource].emplace_back(p, use.weight);
    }
    patterns_[p].links.clear();
  }
  std::vector<std::uint32_t> links(users.size());
  std::iota(links.begin(), links.end(), 0U);
  const auto users_of = [&](std::uint32_t link) -> const auto& { return users[link]; };
  std::ranges::stable_sort(links, {}, users_of);
  const auto repeated = std::ranges::unique(links, {}, users_of);
  links.erase(repeated.begin(), repeated.end());
  for (const std::uint32_t link : links) {
    if (users[link].empty()) continue;
    const auto resource = static_cast<std::uint32_t>(first_link_.size());
    for (const auto& [pattern, share] : users[link]) {
      patterns_[pattern].links.push_back({resource, share});
    }
    first_link_.push_back(link);
  }
  return first_link_.size();
}

}  // namespace orrery
