#include "network/synthesis.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace orrery {
namespace {

// Rounds in which a rank is left with few parts to send cost the less, the more parts there are.
constexpr std::uint32_t kPartsOfALink = 8;

class Gathering {
 public:
  Gathering(const Network& network, std::uint32_t ranks) : ranks_(ranks), into_(ranks) {
    std::uint32_t most = 1;
    for (std::uint32_t to = 0; to < ranks; ++to) {
      for (const DirectedLink& link : network.links_from(to)) {
        if (link.to < ranks) into_[to].push_back(link.to);  // links go both ways
      }
      most = std::max(most, static_cast<std::uint32_t>(into_[to].size()));
    }
    of_rank_ = (kPartsOfALink * most + ranks - 1) / ranks;
    parts_ = ranks * of_rank_;
    has_.assign(ranks, std::vector<bool>(parts_, false));
    holders_.assign(parts_, 1);
    for (std::uint32_t p = 0; p < parts_; ++p) has_[p / of_rank_][p] = true;
  }

  [[nodiscard]] std::uint32_t parts() const { return parts_; }

  // Nothing if some rank can never get a part.
  std::optional<std::vector<Round>> run() {
    std::vector<Round> out;
    std::uint64_t missing = std::uint64_t{ranks_ - 1} * parts_;
    while (missing > 0) {
      Round round;
      auto next = has_;  // what arrives can be sent on in the next round
      for (std::uint32_t i = 0; i < ranks_; ++i) {
        const auto to = static_cast<std::uint32_t>((i + out.size()) % ranks_);
        for (const std::uint32_t from : into_[to]) {
          const auto part = rarest(from, to, next[to]);
          if (!part) continue;
          next[to][*part] = true;
          ++holders_[*part];
          round.sends.push_back({.from = from, .to = to, .part = *part});
        }
      }
      if (round.sends.empty()) return std::nullopt;
      missing -= round.sends.size();
      has_ = std::move(next);
      out.push_back(std::move(round));
    }
    return out;
  }

 private:
  // Of the parts that `from` has and nobody brings to `to`, the one that the fewest ranks have.
  [[nodiscard]] std::optional<std::uint32_t> rarest(std::uint32_t from, std::uint32_t to,
                                                    const std::vector<bool>& brought) const {
    std::optional<std::uint32_t> out;
    for (std::uint32_t k = 0; k < parts_; ++k) {
      const std::uint32_t part = (to * of_rank_ + k) % parts_;
      if (!has_[from][part] || brought[part]) continue;
      if (!out || holders_[part] < holders_[*out]) out = part;
    }
    return out;
  }

  std::uint32_t ranks_;
  std::vector<std::vector<std::uint32_t>> into_;  // the ranks with a link to each
  std::uint32_t of_rank_ = 1;
  std::uint32_t parts_ = 1;
  std::vector<std::vector<bool>> has_;  // by rank and part, when the round begins
  std::vector<std::uint32_t> holders_;  // by part
};

std::vector<Round> backwards(const std::vector<Round>& rounds) {
  std::vector<Round> out(rounds.rbegin(), rounds.rend());
  for (Round& round : out) {
    for (Send& send : round.sends) {
      std::swap(send.from, send.to);
      send.reduces = true;
    }
  }
  return out;
}

}  // namespace

std::optional<Program> synthesized_program(CollectiveKind kind, const Network& network,
                                           std::uint32_t ranks) {
  const bool reduces = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
  const bool gathers = kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather;
  if ((!reduces && !gathers) || ranks < 2 || ranks > kMostSynthesizedRanks) return std::nullopt;
  Gathering gathering(network, ranks);
  auto gather = gathering.run();
  if (!gather) return std::nullopt;
  Program out{.kind = kind, .ranks = ranks, .parts = gathering.parts()};
  out.part_share = 1.0 / out.parts;
  if (reduces) out.rounds = backwards(*gather);
  if (gathers) std::ranges::move(*gather, std::back_inserter(out.rounds));
  return out;
}

}  // namespace orrery
