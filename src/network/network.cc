#include "network/network.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "outcome/invariant.h"

namespace orrery {
namespace {

constexpr std::uint32_t kMostMeshUnits = 1024;

struct Wire {
  std::uint32_t a = 0, b = 0;
  std::uint32_t level = 0;
  double capacity = 0;
  double latency = 0;
  std::uint32_t bundle = 0;
};

// Of choices that are made one after another, at most so many that indices do not overflow.
std::uint64_t combined(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  return a >= kMost / std::max<std::uint64_t>(1, b) ? kMost : a * b;
}

double usable(const FabricLevel& level) { return level.bandwidth.value() * level.efficiency; }

}  // namespace

class NetworkBuilder {
 public:
  explicit NetworkBuilder(const Cluster& cluster) : cluster_(cluster) {}

  Result<Network> build() {
    if (cluster_.accelerators > kMostNetworkAccelerators) {
      return bad_input(std::to_string(cluster_.accelerators) +
                           " accelerators are more than a network graph holds",
                       "accelerators", "at most " + std::to_string(kMostNetworkAccelerators));
    }
    net_.accelerators_ = static_cast<std::uint32_t>(cluster_.accelerators);
    vertices_ = net_.accelerators_;
    const std::size_t sites = site_count(cluster_);
    for (std::size_t s = 0; s < sites; ++s) {
      const std::vector<FabricLevel>& levels = levels_of(cluster_, s);
      Network::Side side;
      if (s > 0) side.first = net_.sides_.back().first + net_.sides_.back().accelerators;
      side.accelerators = static_cast<std::uint32_t>(accelerators_of(cluster_, s));
      if (sites > 1) side.name = name_of(cluster_, s);
      side.first_level = static_cast<std::uint32_t>(net_.levels_.size());
      net_.levels_.insert(net_.levels_.end(), levels.begin(), levels.end());
      net_.sides_.push_back(std::move(side));
      side_ = &net_.sides_.back();
      const std::string place = s == 0 ? "" : "further_sites[" + std::to_string(s - 1) + "]: ";
      for (std::size_t l = 0; l < levels.size(); ++l) {
        ORRERY_RETURN_IF_ERROR(
            at(place + "levels[" + std::to_string(l) + "]: topology", add_tier(l)));
      }
      ORRERY_RETURN_IF_ERROR(check_links());
    }
    for (Network::Side& side : net_.sides_) {
      side_ = &side;
      add_scale_up();
      if (side.tiers.size() > 1) add_network();
    }
    finish();
    return std::move(net_);
  }

 private:
  [[nodiscard]] const FabricLevel& level_of(std::size_t l) const {
    return net_.levels_[side_->first_level + l];
  }
  [[nodiscard]] std::uint32_t end() const { return side_->first + side_->accelerators; }

  Result<void> add_tier(std::size_t l) {
    const FabricLevel& level = level_of(l);
    const LevelTopology topology = level.topology.value_or(LevelTopology{});
    Network::Tier tier;
    tier.size = static_cast<std::uint32_t>(level.accelerators);
    tier.wiring = topology.wiring;
    tier.rails = topology.rails;
    const bool outermost = l + 1 == levels_of(cluster_, net_.sides_.size() - 1).size();
    const bool joins_sites = outermost && site_count(cluster_) > 1;
    if (joins_sites && level.topology) {
      return bad_input("the link between sites that differ has a topology", "",
                       "leave out `topology` of its level: one switch joins the sites");
    }
    const std::uint32_t below = l == 0 ? 1 : side_->tiers[l - 1].size;
    if (l > 0 && !joins_sites && tier.size % below != 0 && tier.size != side_->accelerators) {
      return bad_input("units of " + std::to_string(tier.size) + " accelerators cut those of " +
                           std::to_string(below) + " below",
                       "accelerators", "a multiple of " + std::to_string(below));
    }
    if (tier.wiring != LevelWiring::switched && l == 0 && side_->accelerators % tier.size != 0) {
      return bad_input(std::to_string(side_->accelerators) + " accelerators do not fill a " +
                           std::string(to_text(tier.wiring)) + " of " + std::to_string(tier.size),
                       "accelerators", "a multiple of " + std::to_string(tier.size));
    }
    if (tier.wiring == LevelWiring::torus) {
      if (l != 0) return bad_input("a torus of units", "wiring", "a torus is the innermost level");
      double product = 1;
      for (const std::int64_t d : topology.dimensions) product *= static_cast<double>(d);
      if (product != static_cast<double>(tier.size)) {
        return bad_input("the dimensions hold " + std::to_string(std::llround(product)) + " of " +
                             std::to_string(tier.size) + " accelerators",
                         "dimensions", "their product is the size of the level");
      }
      for (const std::int64_t d : topology.dimensions) {
        side_->dimensions.push_back(static_cast<std::uint32_t>(d));
      }
    }
    if (tier.wiring == LevelWiring::mesh) {
      if (l != 0 && !outermost) {
        return bad_input("a mesh of units below another level", "wiring",
                         "a mesh is the innermost or the outermost level");
      }
      if (units_of(tier.size, below) > kMostMeshUnits) {
        return bad_input("a mesh of " + std::to_string(units_of(tier.size, below)) + " units",
                         "wiring", "at most " + std::to_string(kMostMeshUnits));
      }
      if (l > 1 && side_->tiers[l - 1].rails) {
        return bad_input("a mesh of units with rails", "wiring", "leave out `rails` below");
      }
    }
    if (tier.rails && l == 0) {
      return bad_input("rails of the scale-up level", "rails", "of the first network level");
    }
    if (tier.rails && l > 1 && !side_->tiers[l - 1].rails) {
      return bad_input("rails of a level whose units have none", "rails",
                       "write `rails: true` at the first network level as well");
    }
    if (tier.wiring == LevelWiring::switched) {
      tier.switches = static_cast<std::uint32_t>(topology.switches);
      if (l > 1) {
        const Network::Tier& lower = side_->tiers[l - 1];
        tier.planes =
            lower.switches > 1 && tier.switches % lower.switches == 0 && lower.rails == tier.rails;
        if (tier.rails && !tier.planes) {
          return bad_input(std::to_string(tier.switches) + " switches for " +
                               std::to_string(lower.switches) + " rails",
                           "switches", "a multiple of the rails");
        }
      }
      const std::int64_t switches =
          std::int64_t{units_of(side_->accelerators, tier.size)} * tier.switches;
      if (switches > kMostNetworkLinks) {
        return bad_input(std::to_string(switches) + " switches are more than a network graph holds",
                         "switches", "at most " + std::to_string(kMostNetworkLinks) + " in all");
      }
      if (joins_sites && net_.sides_.size() > 1) {
        tier.first = net_.sides_.front().tiers.back().first;
      } else {
        tier.first = vertices_;
        vertices_ += static_cast<std::uint32_t>(switches);
      }
    }
    side_->tiers.push_back(tier);
    if (tier.rails && outermost) {
      const Network::Tier& inside = side_->tiers[0];
      if (inside.size % side_->tiers[1].switches != 0 ||
          side_->accelerators % side_->tiers[1].switches != 0) {
        return bad_input(
            "the network is disconnected: " + std::to_string(side_->tiers[1].switches) +
                " rails that only the scale-up links join, which reach " +
                std::to_string(inside.size) + " accelerators",
            "rails", "a level outside without `rails` joins them");
      }
      side_->rails_apart = true;
    }
    return {};
  }

  // About as many links as will be wired.
  Result<void> check_links() const {
    double links = 0;
    for (std::size_t l = 0; l < side_->tiers.size(); ++l) {
      const Network::Tier& tier = side_->tiers[l];
      const std::uint32_t size = l == 0 ? 1 : side_->tiers[l - 1].size;
      const double below = l < 2 ? 1 : side_->tiers[l - 1].switches;
      const double above = tier.wiring == LevelWiring::switched ? tier.switches
                           : tier.wiring == LevelWiring::mesh
                               ? units_of(tier.size, size) * 0.5
                               : static_cast<double>(side_->dimensions.size());
      links += units_of(side_->accelerators, size) * above * (tier.planes ? 1 : below);
    }
    if (links <= static_cast<double>(kMostNetworkLinks)) return {};
    return bad_input(std::to_string(std::llround(links)) +
                         " links between accelerators and switches are more than a graph holds",
                     "switches", "at most " + std::to_string(kMostNetworkLinks));
  }

  void wire(std::uint32_t a, std::uint32_t b, std::size_t level, double capacity, double latency,
            std::uint32_t bundle) {
    wires_.push_back(
        {a, b, side_->first_level + static_cast<std::uint32_t>(level), capacity, latency, bundle});
  }

  void add_scale_up() {
    const FabricLevel& level = level_of(0);
    const Network::Tier& tier = side_->tiers.front();
    const double capacity = usable(level) / level.oversubscription;
    const double latency = level.latency.value();
    for (std::uint32_t a = side_->first; a < end(); ++a) {
      const std::uint32_t first = side_->first + side_->unit(0, a) * tier.size;
      if (tier.wiring == LevelWiring::switched) {
        const std::uint32_t bundle = bundles_++;
        for (std::uint32_t s = 0; s < tier.switches; ++s) {
          wire(a, side_->switch_of(0, a, s), 0, capacity / tier.switches, latency / 2, bundle);
        }
      } else if (tier.wiring == LevelWiring::mesh) {
        const std::uint32_t last = std::min(end(), first + tier.size);
        for (std::uint32_t b = a + 1; b < last; ++b) {
          wire(a, b, 0, capacity / (tier.size - 1), latency, bundles_++);
        }
      } else {
        add_torus_links(a, first, capacity, latency);
      }
    }
  }

  void add_torus_links(std::uint32_t a, std::uint32_t first, double capacity, double latency) {
    std::uint32_t ports = 0;
    for (const std::uint32_t d : side_->dimensions) ports += d > 1 ? 2 : 0;
    std::uint32_t stride = 1;
    for (const std::uint32_t d : side_->dimensions) {
      const std::uint32_t place = (a - first) / stride % d;
      // Of two accelerators along a dimension, both ports lead to the same neighbour.
      const std::uint32_t next = place + 1 < d ? a + stride : a - stride * (d - 1);
      const bool wraps_double = d == 2 && place == 1;
      if (d > 1 && !wraps_double) {
        wire(a, next, 0, capacity / ports * (d == 2 ? 2 : 1), latency, bundles_++);
      }
      stride *= d;
    }
  }

  void add_network() {
    const FabricLevel& first = level_of(1);
    const Network::Tier& tier = side_->tiers[1];
    double card = 0;
    for (std::size_t l = 1; l < side_->tiers.size(); ++l) {
      card = std::max(card, usable(level_of(l)));
    }
    const double half = first.latency.value() / 2;
    const bool direct = tier.wiring == LevelWiring::switched &&
                        (tier.rails || (tier.switches == 1 && first.oversubscription == 1));
    if (direct) {
      for (std::uint32_t a = side_->first; a < end(); ++a) {
        const std::uint32_t which = tier.rails ? side_->rail(a) : 0;
        wire(a, side_->switch_of(1, a, which), 1, usable(first) / first.oversubscription, half,
             bundles_++);
      }
    } else {
      side_->has_nodes = true;
      side_->nodes_first = vertices_;
      vertices_ += units_of(side_->accelerators, side_->tiers[0].size);
      for (std::uint32_t a = side_->first; a < end(); ++a) {
        wire(a, side_->nodes_first + side_->unit(0, a), 1, card, half / 2, bundles_++);
      }
      add_uplinks(1, half / 2);
    }
    for (std::size_t l = 2; l < side_->tiers.size(); ++l) {
      const double rise = level_of(l).latency.value() - level_of(l - 1).latency.value();
      add_uplinks(l, std::max(0.0, rise) / 2);
    }
  }

  // The vertex by which unit `u` of level l - 1 is reached from outside, one of `lower_count`.
  [[nodiscard]] std::uint32_t lower(std::size_t l, std::uint32_t u, std::uint32_t which) const {
    if (l == 1) return side_->nodes_first + u;
    return side_->tiers[l - 1].first + u * side_->tiers[l - 1].switches + which;
  }

  void add_uplinks(std::size_t l, double latency) {
    const FabricLevel& level = level_of(l);
    const Network::Tier& tier = side_->tiers[l];
    const std::uint32_t size = side_->tiers[l - 1].size;
    const std::uint32_t lowers = l == 1 ? 1 : side_->tiers[l - 1].switches;
    const double total = size * usable(level) / level.oversubscription;
    const std::uint32_t units = units_of(side_->accelerators, size);
    const std::uint32_t rails = l > 1 && side_->tiers[l - 1].rails ? side_->tiers[1].switches : 1;
    for (std::uint32_t u = 0; u < units; ++u) {
      if (tier.wiring == LevelWiring::mesh) {
        const std::uint32_t peers = units_of(tier.size, size) - 1;
        for (std::uint32_t v = u + 1; v < units; ++v) {
          const std::uint32_t bundle = bundles_++;
          for (std::uint32_t s = 0; s < lowers; ++s) {
            wire(lower(l, u, s), lower(l, v, s), l, total / peers / lowers, latency * 2, bundle);
          }
        }
        continue;
      }
      const std::uint32_t bundle = bundles_;
      bundles_ += rails;
      for (std::uint32_t t = 0; t < tier.switches; ++t) {
        const std::uint32_t upper = side_->switch_of(l, side_->first + u * size, t);
        const std::uint32_t first = tier.planes ? t % lowers : 0;
        const std::uint32_t end = tier.planes ? first + 1 : lowers;
        for (std::uint32_t s = first; s < end; ++s) {
          wire(lower(l, u, s), upper, l, total / tier.switches / (tier.planes ? 1 : lowers),
               latency, bundle + s % rails);
        }
      }
    }
  }

  void finish() {
    struct Placed {
      DirectedLink link;
      std::uint32_t bundle;  // twice that of the wire, and one more on the way back
    };
    std::vector<Placed> placed;
    placed.reserve(2 * wires_.size());
    for (const Wire& w : wires_) {
      const BytesPerSecond capacity(w.capacity);
      placed.push_back({{w.a, w.b, w.level, capacity, Seconds(w.latency)}, 2 * w.bundle});
      placed.push_back({{w.b, w.a, w.level, capacity, Seconds(w.latency)}, 2 * w.bundle + 1});
    }
    wires_ = {};
    std::ranges::sort(placed, [](const Placed& a, const Placed& b) {
      return a.link.from != b.link.from ? a.link.from < b.link.from : a.link.to < b.link.to;
    });
    std::vector<LinkBundle> of_bundle(2 * std::size_t{bundles_}, {0, 0});
    for (const Placed& p : placed) {
      LinkBundle& bundle = of_bundle[p.bundle];
      if (bundle.links++ == 0) bundle.first = static_cast<std::uint32_t>(net_.links_.size());
      net_.links_.push_back(p.link);
    }
    for (const Placed& p : placed) net_.bundles_.push_back(of_bundle[p.bundle]);
    net_.offsets_.assign(vertices_ + 1, 0);
    for (const DirectedLink& link : net_.links_) ++net_.offsets_[link.from + 1];
    std::partial_sum(net_.offsets_.begin(), net_.offsets_.end(), net_.offsets_.begin());
  }

  const Cluster& cluster_;
  Network net_;
  Network::Side* side_ = nullptr;  // that is being built
  std::uint32_t vertices_ = 0;
  std::uint32_t bundles_ = 0;
  std::vector<Wire> wires_;
};

Result<Network> network_of(const Cluster& cluster) {
  ORRERY_RETURN_IF_ERROR(check(cluster));
  return NetworkBuilder(cluster).build();
}

std::uint32_t Network::Side::switches(std::size_t level) const {
  const std::uint32_t nodes = level == 1 && has_nodes ? units_of(accelerators, tiers[0].size) : 0;
  return units_of(accelerators, tiers[level].size) * tiers[level].switches + nodes;
}

std::size_t Network::site_of(std::uint32_t accelerator) const {
  std::size_t site = sides_.size() - 1;
  while (accelerator < sides_[site].first) --site;
  return site;
}

bool Network::has_scale_up_switch(std::uint32_t accelerator) const {
  return side(accelerator).tiers[0].switches > 0;
}

std::uint32_t Network::scale_up_switch(std::uint32_t accelerator) const {
  ORRERY_INVARIANT(has_scale_up_switch(accelerator));
  return side(accelerator).switch_of(0, accelerator, 0);
}

bool Network::scales_up(const DirectedLink& link) const {
  return std::ranges::any_of(sides_, [&](const Side& s) { return s.first_level == link.level; });
}

std::size_t Network::joining_level(std::uint32_t from, std::uint32_t to) const {
  const Side& own = side(from);
  return own.first_level + (&own == &side(to) ? own.joining_level(from, to) : own.tiers.size() - 1);
}

std::size_t Network::Side::joining_level(std::uint32_t from, std::uint32_t to) const {
  std::size_t level = 0;
  while (level + 1 < tiers.size() && unit(level, from) != unit(level, to)) ++level;
  return level;
}

std::uint32_t Network::link(std::uint32_t from, std::uint32_t to) const {
  const auto begin = links_.begin() + offsets_[from];
  const auto found = std::lower_bound(
      begin, links_.begin() + offsets_[from + 1], to,
      [](const DirectedLink& link, std::uint32_t vertex) { return link.to < vertex; });
  ORRERY_INVARIANT(found != links_.end() && found->from == from && found->to == to);
  return static_cast<std::uint32_t>(found - links_.begin());
}

// The accelerator of `from`'s node on the rail of `to`, through which a path must go that no switch
// joins; `from` itself where none is needed.
std::uint32_t Network::Side::crossing_peer(std::uint32_t from, std::uint32_t to) const {
  if (!rails_apart || unit(0, from) == unit(0, to) || rail(from) == rail(to)) return from;
  return first + std::min(accelerators - 1, unit(0, from) * tiers[0].size + rail(to));
}

// The level whose switches join both: further out than the innermost common unit where both are on
// different rails.
std::size_t Network::Side::top_level(std::uint32_t from, std::uint32_t to) const {
  std::size_t top = joining_level(from, to);
  if (top == 0) return 0;
  while (tiers[top].rails && rail(from) != rail(to)) ++top;
  return top;
}

// Paths between an accelerator and a given switch of its unit of `top`.
std::uint64_t Network::Side::choices_below(std::size_t top) const {
  std::uint64_t out = 1;
  for (std::size_t l = top; l > 1; --l) {
    const Tier& lower = tiers[l - 1];
    if (tiers[l].planes) continue;
    // With rails, only the switches of the own one are below.
    out = combined(out, lower.rails ? lower.switches / tiers[1].switches : lower.switches);
  }
  return out;
}

std::uint64_t Network::Side::shortest_paths(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t via = crossing_peer(from, to);
  if (via != from) return combined(shortest_paths(from, via), shortest_paths(via, to));
  const std::size_t top = top_level(from, to);
  const Tier& tier = tiers[top];
  if (top == 0) return tier.wiring == LevelWiring::switched ? tier.switches : 1;
  if (tier.wiring == LevelWiring::mesh) {
    const std::uint64_t lowers = top == 1 ? 1 : tiers[top - 1].switches;
    const std::uint64_t down = top > 2 ? choices_below(top - 1) : 1;
    return combined(lowers, combined(down, down));
  }
  std::uint64_t joined = tier.switches;
  if (tier.rails) joined /= tiers[1].switches;  // the switches of the rail
  const std::uint64_t side = choices_below(top);
  return combined(joined, combined(side, side));
}

std::uint64_t Network::Side::paths(std::uint32_t from, std::uint32_t to) const {
  const std::uint64_t shortest = shortest_paths(from, to);
  if (crossing_peer(from, to) != from) return shortest;
  const std::size_t top = top_level(from, to);
  if (top == 0 || tiers[top].wiring != LevelWiring::mesh) return shortest;
  return shortest * (units_of(accelerators, tiers[top - 1].size) - 1);
}

// Appends the vertices between an accelerator and switch `which` of its unit of `level`, from below;
// `rest` holds the choices that are left.
void Network::Side::append_climb(std::uint32_t accelerator, std::size_t level, std::uint32_t which,
                                 std::uint64_t& rest, std::vector<std::uint32_t>& vertices) const {
  if (level == 0) {
    vertices.push_back(nodes_first + unit(0, accelerator));
    return;
  }
  if (level == 1) {
    if (has_nodes) vertices.push_back(nodes_first + unit(0, accelerator));
  } else {
    const std::uint32_t lowers = tiers[level - 1].switches;
    std::uint32_t lower = 0;
    if (tiers[level].planes) {
      lower = which % lowers;
    } else {
      const bool rails = tiers[level - 1].rails;
      const std::uint32_t choices = rails ? lowers / tiers[1].switches : lowers;
      lower = static_cast<std::uint32_t>(rest % choices);
      rest /= choices;
      if (rails) lower = lower * tiers[1].switches + rail(accelerator);
    }
    append_climb(accelerator, level - 1, lower, rest, vertices);
  }
  vertices.push_back(switch_of(level, accelerator, which));
}

void Network::Side::append_torus(std::uint32_t from, std::uint32_t to,
                                 std::vector<std::uint32_t>& vertices) const {
  std::uint32_t at = from;
  std::uint32_t stride = 1;
  const std::uint32_t begin = first + unit(0, from) * tiers[0].size;
  for (const std::uint32_t d : dimensions) {
    const std::uint32_t target = (to - begin) / stride % d;
    for (;;) {
      const std::uint32_t place = (at - begin) / stride % d;
      if (place == target) break;
      const bool forwards = (target + d - place) % d <= d / 2;
      const std::uint32_t next = forwards ? (place + 1) % d : (place + d - 1) % d;
      at = at - place * stride + next * stride;
      vertices.push_back(at);
    }
    stride *= d;
  }
}

// The vertices behind `from`, up to and with `to`.
void Network::Side::append_vertices(std::uint32_t from, std::uint32_t to, std::uint64_t index,
                                    std::vector<std::uint32_t>& vertices) const {
  const std::uint32_t via = crossing_peer(from, to);
  if (via != from) {
    const std::uint64_t inside = shortest_paths(from, via);
    append_vertices(from, via, index % inside, vertices);
    append_vertices(via, to, index / inside, vertices);
    return;
  }
  const std::size_t top = top_level(from, to);
  const Tier& tier = tiers[top];
  if (top == 0) {
    if (tier.wiring == LevelWiring::torus) return append_torus(from, to, vertices);
    if (tier.wiring == LevelWiring::switched) {
      vertices.push_back(switch_of(0, from, static_cast<std::uint32_t>(index)));
    }
    vertices.push_back(to);
    return;
  }
  std::vector<std::uint32_t> down;
  if (tier.wiring == LevelWiring::mesh) {
    const std::uint64_t shortest = shortest_paths(from, to);
    std::uint64_t rest = index % shortest;
    const std::uint32_t lowers = top == 1 ? 1 : tiers[top - 1].switches;
    const auto which = static_cast<std::uint32_t>(rest % lowers);
    rest /= lowers;
    append_climb(from, top - 1, which, rest, vertices);
    if (const auto third = static_cast<std::uint32_t>(index / shortest); third > 0) {
      const std::uint32_t near = std::min(unit(top - 1, from), unit(top - 1, to));
      const std::uint32_t far = std::max(unit(top - 1, from), unit(top - 1, to));
      std::uint32_t u = third - 1;
      if (u >= near) ++u;
      if (u >= far) ++u;
      vertices.push_back(top == 1 ? nodes_first + u : tiers[top - 1].first + u * lowers + which);
    }
    append_climb(to, top - 1, which, rest, down);
  } else {
    std::uint64_t joined = tier.switches;
    if (tier.rails) joined /= tiers[1].switches;
    auto which = static_cast<std::uint32_t>(index % joined);
    if (tier.rails) which = which * tiers[1].switches + rail(from);
    std::uint64_t rest = index / joined;
    append_climb(from, top, which, rest, vertices);
    append_climb(to, top, which, rest, down);
    down.pop_back();
  }
  vertices.insert(vertices.end(), down.rbegin(), down.rend());
  vertices.push_back(to);
}

std::uint64_t Network::shortest_paths(std::uint32_t from, std::uint32_t to) const {
  const Side& near = side(from);
  const Side& far = side(to);
  if (&near == &far) return near.shortest_paths(from, to);
  return combined(near.choices_below(near.tiers.size() - 1),
                  far.choices_below(far.tiers.size() - 1));
}

std::uint64_t Network::paths(std::uint32_t from, std::uint32_t to) const {
  const Side& near = side(from);
  return &near == &side(to) ? near.paths(from, to) : shortest_paths(from, to);
}

void Network::append_path(std::uint32_t from, std::uint32_t to, std::uint64_t index,
                          LinkPath& out) const {
  std::vector<std::uint32_t> vertices;
  const Side& near = side(from);
  const Side& far = side(to);
  if (&near == &far) {
    near.append_vertices(from, to, index, vertices);
  } else {
    near.append_climb(from, near.tiers.size() - 1, 0, index, vertices);
    std::vector<std::uint32_t> down;
    far.append_climb(to, far.tiers.size() - 1, 0, index, down);
    vertices.insert(vertices.end(), down.rbegin() + 1, down.rend());
    vertices.push_back(to);
  }
  std::uint32_t at = from;
  for (const std::uint32_t next : vertices) {
    out.push_back(link(at, next));
    at = next;
  }
}

}  // namespace orrery
