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

}  // namespace orrery
