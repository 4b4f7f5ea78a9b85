#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "network/network.h"

namespace orrery {

// Links from accelerators of half 1 to those of half 2; a switch that joins both stands in the half
// where it costs less.
Bisection Network::cut(const std::vector<std::uint8_t>& halves) const {
  std::vector<std::uint8_t> reaches(vertices());  // bit 0: half 1, bit 1: half 2
  std::ranges::copy(halves, reaches.begin());
  for (std::uint32_t a = 0; a < accelerators_; ++a) {
    const Side& own = side(a);
    if (own.has_nodes) reaches[own.nodes_first + own.unit(0, a)] |= halves[a];
    for (std::size_t l = 0; l < own.tiers.size(); ++l) {
      for (std::uint32_t s = 0; s < own.tiers[l].switches; ++s) {
        reaches[own.switch_of(l, a, s)] |= halves[a];
      }
    }
  }
  std::vector<double> first(vertices());
  std::vector<double> second(vertices());
  std::array<double, 3> sent = {};
  std::array<BytesPerSecond, 3> ports = {};
  std::array<std::uint32_t, 3> accelerators = {};
  double rate = 0;
  for (const DirectedLink& link : links_) {
    const double capacity = link.capacity.value();
    if (link.from < accelerators_ && (!scales_up(link) || levels_.size() == 1)) {
      sent[halves[link.from]] += capacity;
    }
    if (reaches[link.from] == 1 && reaches[link.to] == 2) rate += capacity;
    if (reaches[link.to] == 3 && reaches[link.from] != 3) {
      (reaches[link.from] == 1 ? first : second)[link.to] += capacity;
    }
  }
  for (std::uint32_t v = 0; v < vertices(); ++v) {
    if (reaches[v] == 3) rate += std::min(first[v], second[v]);
  }
  for (std::uint32_t a = 0; a < accelerators_; ++a) {
    const Side& own = side(a);
    const FabricLevel& outermost = levels_[own.first_level + own.tiers.size() - 1];
    ports[halves[a]] += outermost.bandwidth * outermost.efficiency;
    ++accelerators[halves[a]];
  }
  return {BytesPerSecond(std::min({rate, sent[1], sent[2]})), std::min(ports[1], ports[2]),
          std::min(accelerators[1], accelerators[2])};
}

Bisection Network::bisection() const {
  std::vector<std::uint8_t> halves(accelerators_);
  const auto cut_at = [&](std::uint32_t first_of_other) {
    for (std::uint32_t a = 0; a < accelerators_; ++a) halves[a] = a < first_of_other ? 1 : 2;
    return cut(halves);
  };
  if (sides_.size() > 1) {  // whole sites, as equal as can be
    std::uint32_t nearest = 0;
    const auto off = [&](std::uint32_t at) {
      return std::abs(2.0 * at - static_cast<double>(accelerators_));
    };
    for (const Side& s : sides_) nearest = off(s.first) < off(nearest) ? s.first : nearest;
    return cut_at(nearest);
  }
  const Side& all = sides_.front();
  if (all.tiers.size() > 1 || all.dimensions.empty()) {
    const std::uint32_t unit = all.tiers.size() < 2 ? 1 : all.tiers[all.tiers.size() - 2].size;
    return cut_at(units_of(accelerators_, unit) / 2 * unit);
  }
  std::optional<Bisection> least;
  std::uint32_t stride = 1;
  for (const std::uint32_t d : all.dimensions) {
    for (std::uint32_t a = 0; a < accelerators_; ++a) halves[a] = a / stride % d < d / 2 ? 1 : 2;
    const Bisection here = cut(halves);
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
  out.bisection_accelerators = bisection.accelerators;
  for (const Network::Side& side : network.sides_) {
    for (std::size_t l = 0; l < side.tiers.size(); ++l) {
      const FabricLevel& level = network.levels()[side.first_level + l];
      const LevelTopology topology = level.topology.value_or(LevelTopology{});
      LevelFigures row;
      row.site = side.name;
      row.name = level.name;
      row.wiring = topology.wiring;
      row.rails = topology.rails;
      row.unit = level.accelerators;
      row.units = units_of(side.accelerators, static_cast<std::uint32_t>(level.accelerators));
      row.switches = side.switches(l);
      row.oversubscription = level.oversubscription;
      row.latency = level.latency;
      const double below = l == 0 ? 1 : side.tiers[l - 1].size;
      row.uplinks = level.bandwidth * level.efficiency * below / level.oversubscription;
      out.levels.push_back(std::move(row));
    }
  }
  for (const DirectedLink& link : network.links()) {
    LevelFigures& row = out.levels[link.level];
    if (link.from < link.to) ++row.links;
    row.link = row.link > BytesPerSecond(0) ? std::min(row.link, link.capacity) : link.capacity;
  }
  if (bisection.accelerators > 0) out.bisection_share = bisection.rate / bisection.ports;
  // Every accelerator of a site sees the same network but for units that are not full and its place in
  // a torus, so paths from the first of each to all others are enough.
  LinkPath path;
  for (const Network::Side& side : network.sides_) {
    for (std::uint32_t a = 0; a < network.accelerators(); ++a) {
      if (a == side.first) continue;
      path.clear();
      network.append_path(side.first, a, 0, path);
      Seconds latency;
      for (const std::uint32_t l : path) latency += network.links()[l].latency;
      out.diameter = std::max(out.diameter, std::ssize(path));
      out.longest_latency = std::max(out.longest_latency, latency);
    }
  }
  return out;
}

}  // namespace orrery
