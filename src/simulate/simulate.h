// Start times from durations and dependencies: one pass over the graph.
//
//   start(n) = max(end of the node before n on its stream(s), end of every predecessor of n)
//   end(n)   = start(n) + duration(n)
//
// On a wire (StreamRole::wire) no node waits for another.
// The "as soon as possible in fixed order" rule of pipeline schedules and of
// in-order device streams. Sums and maxima of whole picoseconds are exact, so the result does not
// depend on how the graph was folded. O(nodes + edges), no heap in the loop, thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace orrery {

struct Timeline {
  std::vector<double> end_ps;  // of every node; start = end - duration, exactly
  Picoseconds makespan;

  [[nodiscard]] Picoseconds end(NodeIndex n) const { return Picoseconds(end_ps[n.value()]); }
  [[nodiscard]] Picoseconds start(const Graph& graph, NodeIndex n) const {
    return end(n) - graph.duration(n);
  }
};

Timeline simulate(const Graph& graph);

// The same over another set of durations (picoseconds, whole numbers, one per node).
Timeline simulate(const Graph& graph, std::span<const double> durations);

// Several sets of durations in one pass, each in a lane: that of node n in lane k is
// durations[kLanes n + k], and its end goes to the same place of `ends`. The lanes of a node lie
// together, so that a compiler computes them with vector instructions; simulate() is the one with a
// single lane, and a lane is the same to the bit. Returns the makespan of every lane.
template <std::size_t kLanes>
std::array<double, kLanes> simulate_lanes(const Graph& graph, std::span<const double> durations,
                                          std::span<double> ends);
inline constexpr std::size_t kLanes = 8;
extern template std::array<double, kLanes> simulate_lanes<kLanes>(const Graph&,
                                                                  std::span<const double>,
                                                                  std::span<double>);

}  // namespace orrery
