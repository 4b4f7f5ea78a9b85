#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "network/network.h"

namespace orrery {

// Links from accelerators of side 1 to those of side 2; a switch that joins both stands on the side
// where it costs less.
Bisection Network::cut(const std::vector<std::uint8_t>& sides) const {
  std::vector<std::uint8_t> reaches(vertices());  // bit 0: side 1, bit 1: side 2
  std::ranges::copy(sides, reaches.begin());
  for (std::size_t l = 0; l < tiers_.size(); ++l) {
    const Tier& tier = tiers_[l];
    for (std::uint32_t a = 0; a < accelerators_; ++a) {
      const std::uint32_t u = unit(l, a);
      if (has_nodes_ && l == 0) reaches[nodes_first_ + u] |= sides[a];
      for (std::uint32_t s = 0; s < tier.switches; ++s) {
        reaches[tier.first + u * tier.switches + s] |= sides[a];
      }
    }
  }
  std::vector<double> first(vertices());
  std::vector<double> second(vertices());
  std::array<double, 3> sent = {};
  std::array<std::uint32_t, 3> accelerators = {};
  double rate = 0;
  for (const DirectedLink& link : links_) {
    const double capacity = link.capacity.value();
    if (link.from < accelerators_ && (link.level > 0 || tiers_.size() == 1)) {
      sent[sides[link.from]] += capacity;
    }
    if (reaches[link.from] == 1 && reaches[link.to] == 2) rate += capacity;
    if (reaches[link.to] == 3 && reaches[link.from] != 3) {
      (reaches[link.from] == 1 ? first : second)[link.to] += capacity;
    }
  }
  for (std::uint32_t v = 0; v < vertices(); ++v) {
    if (reaches[v] == 3) rate += std::min(first[v], second[v]);
  }
  for (const std::uint8_t side : sides) ++accelerators[side];
  return {BytesPerSecond(std::min({rate, sent[1], sent[2]})),
          std::min(accelerators[1], accelerators[2])};
}

Bisection Network::bisection() const {
  std::vector<std::uint8_t> sides(accelerators_);
  if (tiers_.size() > 1 || dimensions_.empty()) {
    const std::uint32_t unit = tiers_.size() < 2 ? 1 : tiers_[tiers_.size() - 2].size;
    const std::uint32_t half = units_of(accelerators_, unit) / 2 * unit;
    for (std::uint32_t a = 0; a < accelerators_; ++a) sides[a] = a < half ? 1 : 2;
    return cut(sides);
  }
  std::optional<Bisection> least;
  std::uint32_t stride = 1;
  for (const std::uint32_t d : dimensions_) {
    for (std::uint32_t a = 0; a < accelerators_; ++a) sides[a] = a / stride % d < d / 2 ? 1 : 2;
    const Bisection here = cut(sides);
    // Halves as equal as can be, then those that the least joins.
    if (d > 1 && (!least || here.accelerators > least->accelerators ||
                  (here.accelerators == least->accelerators && here.rate < least->rate))) {
      least = here;
    }
    stride *= d;
  }
  return least.value_or(Bisection{});
}

NetworkFigures figures_of(const Network& network, std::string cluster) {
  NetworkFigures out;
  out.cluster = std::move(cluster);
  out.accelerators = network.accelerators();
  out.switches = network.vertices() - network.accelerators();
  out.links = std::ssize(network.links()) / 2;
  const Bisection bisection = network.bisection();
  out.bisection = bisection.rate;
  for (std::size_t l = 0; l < network.levels().size(); ++l) {
    const FabricLevel& level = network.levels()[l];
    const LevelTopology topology = level.topology.value_or(LevelTopology{});
    LevelFigures row;
    row.name = level.name;
    row.wiring = topology.wiring;
    row.rails = topology.rails;
    row.unit = level.accelerators;
    row.units = units_of(network.accelerators(), static_cast<std::uint32_t>(level.accelerators));
    row.switches = network.switches(l);
    row.oversubscription = level.oversubscription;
    row.latency = level.latency;
    const std::int64_t below = l == 0 ? 1 : network.levels()[l - 1].accelerators;
    row.uplinks =
        level.bandwidth * level.efficiency * static_cast<double>(below) / level.oversubscription;
    out.levels.push_back(std::move(row));
  }
  for (const DirectedLink& link : network.links()) {
    LevelFigures& row = out.levels[link.level];
    if (link.from < link.to) ++row.links;
    row.link = row.link > BytesPerSecond(0) ? std::min(row.link, link.capacity) : link.capacity;
  }
  if (bisection.accelerators > 0) {
    out.bisection_share =
        bisection.rate / (network.levels().back().bandwidth * network.levels().back().efficiency *
                          static_cast<double>(bisection.accelerators));
  }
  // Every accelerator sees the same network but for units that are not full and its place in a
  // torus, so paths from the first to all others are enough.
  LinkPath path;
  for (std::uint32_t a = 1; a < network.accelerators(); ++a) {
    path.clear();
    network.append_path(0, a, 0, path);
    Seconds latency;
    for (const std::uint32_t l : path) latency += network.links()[l].latency;
    out.diameter = std::max(out.diameter, std::ssize(path));
    out.longest_latency = std::max(out.longest_latency, latency);
  }
  return out;
}

}  // namespace orrery
