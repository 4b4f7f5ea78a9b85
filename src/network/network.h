// A cluster's network as a graph: accelerators and switches joined by directed links with a
// capacity and a latency, derived from the levels of the cluster and their topology, and the paths
// through it.
//
// The links of a level carry what the level says. With b its bandwidth of one accelerator, e its
// efficiency, r its oversubscription, and m the accelerators of a unit below it,
//
//   level 0            an accelerator's links to the switches, mesh or torus: b e / r together
//   cards              b e of the network level that gives most; b e / r of level 1 where they go to
//                      its switches themselves: with rails, or with one switch and r = 1
//   uplinks, level l   m b e / r of one unit below, evenly over its links; none of level 1 where the
//                      cards go to its switches themselves
//   latency            the links of a path between two units of level l - 1 add up to that of level
//                      l; a hop of a torus or mesh has that of its level
//
// so that what all accelerators send over a level at once gets the rate of `delivery()`
// (cluster/fabric_level.h). Paths are the shortest, up to the innermost level that joins both ends:
// one for each choice of switches. Where rails are joined by nothing but the scale-up links, a path
// passes the accelerator of the own node that is on the rail of the destination. Over a mesh of
// units (a dragonfly) the direct links are the shortest paths; spread traffic also takes
// those through each other unit (Valiant, SIAM J. Comput. 11(2), 1982; Kim et al., ISCA 2008).
//
// Where sites differ (cluster/cluster.h), each has its own switches and links by its own levels, and
// one switch joins all sites: a path from one to another climbs the levels of the first and descends
// those of the other. Half of the latency of the link, as each end states it, is on either side.
//
// Left out: links that fail, routes through the host, paths of unequal cost other than those.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "units/quantity.h"

namespace orrery {

// Units of so many accelerators each; the last may not be full.
constexpr std::uint32_t units_of(std::uint32_t accelerators, std::uint32_t size) {
  return (accelerators + size - 1) / size;
}

struct DirectedLink {
  std::uint32_t from = 0, to = 0;
  std::uint32_t level = 0;
  BytesPerSecond capacity;
  Seconds latency;
};

// Links of the same two units of a level, or of one rail of them, in one direction. Every flow that is
// spread puts an equal part on each, so that the first stands for all.
struct LinkBundle {
  std::uint32_t first = 0;
  std::uint32_t links = 1;
};

// A path takes the links one after another.
using LinkPath = std::vector<std::uint32_t>;

// How a flow chooses among the paths there are.
enum class Routing : std::uint8_t {
  ecmp,     // one of the shortest by a hash of both ends and the flow's number, as switches do
  spray,    // an equal part over every path: packet spraying, adaptive routing
  planned,  // the shortest that is least loaded by flows before it: planned paths (C4, 2406.04594)
};

// What half of the accelerators can send to the others at once: whole units of the outermost level;
// where sites differ, whole sites in the order of their accelerators; or a torus that is cut across the
// dimension where that is least. No more than the cards of either half send.
struct Bisection {
  BytesPerSecond rate;
  BytesPerSecond ports;            // of the half whose outermost level has less, that level alone
  std::uint32_t accelerators = 0;  // of the smaller half
};

struct NetworkFigures;

class Network {
 public:
  // Accelerators are the vertices from 0; switches follow.
  [[nodiscard]] std::uint32_t accelerators() const { return accelerators_; }
  [[nodiscard]] std::uint32_t vertices() const {
    return static_cast<std::uint32_t>(offsets_.size() - 1);
  }
  [[nodiscard]] std::span<const DirectedLink> links() const { return links_; }
  [[nodiscard]] std::span<const DirectedLink> links_from(std::uint32_t vertex) const {
    return std::span(links_).subspan(offsets_[vertex], offsets_[vertex + 1] - offsets_[vertex]);
  }
  // The link in the other direction.
  [[nodiscard]] std::uint32_t reverse(std::uint32_t index) const {
    return link(links_[index].to, links_[index].from);
  }
  [[nodiscard]] const LinkBundle& bundle(std::uint32_t index) const { return bundles_[index]; }
  // From the inside out; where sites differ, those of the first, then those of the next. The last of
  // each is the link as that site sees it.
  [[nodiscard]] std::span<const FabricLevel> levels() const { return levels_; }
  // The switch that stands for the scale-up domain of an accelerator; the first of several.
  // Its level must be switched.
  [[nodiscard]] std::uint32_t scale_up_switch(std::uint32_t accelerator) const;
  [[nodiscard]] bool has_scale_up_switch(std::uint32_t accelerator) const;
  // Whether a link is of the scale-up level of a site.
  [[nodiscard]] bool scales_up(const DirectedLink& link) const;
  // The innermost level that joins both, as the first of them sees it.
  [[nodiscard]] std::size_t joining_level(std::uint32_t from, std::uint32_t to) const;
  // Which of the sites that differ an accelerator is in.
  [[nodiscard]] std::size_t site_of(std::uint32_t accelerator) const;

  // Paths between two different accelerators: the shortest come first.
  [[nodiscard]] std::uint64_t paths(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::uint64_t shortest_paths(std::uint32_t from, std::uint32_t to) const;
  // Path `index` of all, appended to `out`. Those from k to k + 1 times the number of shortest paths
  // pass the same bundles.
  void append_path(std::uint32_t from, std::uint32_t to, std::uint64_t index, LinkPath& out) const;
  [[nodiscard]] Bisection bisection() const;

 private:
  friend class NetworkBuilder;
  friend NetworkFigures figures_of(const Network& network, std::string cluster);
  struct Tier {
    std::uint32_t size = 0;      // accelerators of a unit
    std::uint32_t first = 0;     // its first switch
    std::uint32_t switches = 0;  // of one unit; 0: the level has none
    LevelWiring wiring = LevelWiring::switched;
    bool rails = false;
    bool planes = false;  // switch t is wired to switch t modulo those of the level below
  };
  // What the accelerators of one site see, where sites differ; else all of the cluster.
  struct Side {
    std::string name;
    std::uint32_t first = 0;         // of its accelerators
    std::uint32_t accelerators = 0;  // in it
    std::uint32_t first_level = 0;   // of its levels in levels_
    std::vector<Tier> tiers;         // by level
    std::uint32_t nodes_first = 0;   // vertices of the network side of nodes
    bool has_nodes = false;
    bool rails_apart = false;  // nothing but the scale-up links joins the rails
    std::vector<std::uint32_t> dimensions;

    [[nodiscard]] std::uint32_t unit(std::size_t level, std::uint32_t accelerator) const {
      return (accelerator - first) / tiers[level].size;
    }
    [[nodiscard]] std::uint32_t rail(std::uint32_t accelerator) const {
      return (accelerator - first) % tiers[0].size % tiers[1].switches;
    }
    [[nodiscard]] std::uint32_t switch_of(std::size_t level, std::uint32_t accelerator,
                                          std::uint32_t which) const {
      return tiers[level].first + unit(level, accelerator) * tiers[level].switches + which;
    }
    // Switches of a level; those of the network side of nodes count to level 1.
    [[nodiscard]] std::uint32_t switches(std::size_t level) const;
    [[nodiscard]] std::size_t joining_level(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] std::size_t top_level(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] std::uint32_t crossing_peer(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] std::uint64_t choices_below(std::size_t top) const;
    [[nodiscard]] std::uint64_t shortest_paths(std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] std::uint64_t paths(std::uint32_t from, std::uint32_t to) const;
    void append_climb(std::uint32_t accelerator, std::size_t level, std::uint32_t which,
                      std::uint64_t& rest, std::vector<std::uint32_t>& vertices) const;
    void append_torus(std::uint32_t from, std::uint32_t to,
                      std::vector<std::uint32_t>& vertices) const;
    void append_vertices(std::uint32_t from, std::uint32_t to, std::uint64_t index,
                         std::vector<std::uint32_t>& vertices) const;
  };
  [[nodiscard]] const Side& side(std::uint32_t accelerator) const {
    return sides_[site_of(accelerator)];
  }
  [[nodiscard]] std::uint32_t link(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Bisection cut(const std::vector<std::uint8_t>& halves) const;

  std::uint32_t accelerators_ = 0;
  std::vector<FabricLevel> levels_;
  std::vector<Side> sides_;  // in the order of their accelerators
  std::vector<std::uint32_t> offsets_ = {0};
  std::vector<DirectedLink> links_;  // by `from`, then `to`
  std::vector<LinkBundle> bundles_;  // of each link
};

inline constexpr std::int64_t kMostNetworkAccelerators = 1'000'000;
inline constexpr std::int64_t kMostNetworkLinks = 20'000'000;  // in one direction

// Errors: more accelerators, switches or links than a graph holds; dimensions that are not those of
// the torus; a mesh of too many units; wirings that a level cannot have, or that leave accelerators
// disconnected; a topology of the link between sites that differ.
Result<Network> network_of(const Cluster& cluster);

// One level of the graph.
struct LevelFigures {
  std::string site;  // where sites differ
  std::string name;
  LevelWiring wiring = LevelWiring::switched;
  bool rails = false;
  std::int64_t unit = 0;  // accelerators of one unit
  std::int64_t units = 0;
  std::int64_t switches = 0;  // of all units
  std::int64_t links = 0;     // in one direction
  BytesPerSecond link;        // of one of them
  BytesPerSecond uplinks;     // of one unit below, all its links of this level in one direction
  double oversubscription = 1;
  Seconds latency;  // of a message over it
};

// What the graph says of the whole.
struct NetworkFigures {
  std::string cluster;
  std::int64_t accelerators = 0;
  std::int64_t switches = 0;
  std::int64_t links = 0;                   // in one direction
  BytesPerSecond bisection;                 // one direction
  std::int64_t bisection_accelerators = 0;  // of the smaller half
  double bisection_share = 0;  // of what the smaller half sends at the outermost level's rate
  std::int64_t diameter = 0;   // links of the longest shortest path
  Seconds longest_latency;
  std::vector<LevelFigures> levels;
};
NetworkFigures figures_of(const Network& network, std::string cluster);

}  // namespace orrery
