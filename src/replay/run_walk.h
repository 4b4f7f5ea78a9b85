// A replayed run walked back from the end of a node: at every moment the one thing whose end let
// the next begin. That chain is the critical path of the run up to there.
//
//   before(n) = of the node before n on its lane and all that n waits for, the one that ended last
//
// Of those that ended together, the lane's own comes first, then edges as the graph has them, so
// the chain is deterministic. Every stretch of time up to the start belongs to exactly one node:
// the chain's times add up to its length.
//
// O(nodes + edges) once for a graph, O(length of the chain) for a walk.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/run_graph.h"

namespace orrery {

// A node of the chain, and the part of its time that belongs to the walk.
struct WalkedNode {
  std::uint32_t node = 0;
  std::int64_t begin_ns = 0;  // since the start of the run
  std::int64_t end_ns = 0;
  bool across_streams = false;  // it ended a wait of another stream: RunEdge::across_streams
};

class RunWalk {
 public:
  // Both must outlive it.
  RunWalk(const RunGraph& graph, const ReplayedRun& replayed);

  // From the end of `last` back to `from_ns`, latest first. Nodes that took no time are among them.
  [[nodiscard]] std::vector<WalkedNode> back(std::uint32_t last, std::int64_t from_ns) const;

 private:
  const RunGraph& graph_;
  const ReplayedRun& replayed_;
  std::vector<std::uint32_t> offsets_;  // by node, into:
  std::vector<std::uint32_t> sources_;
  std::vector<bool> across_streams_;
};

}  // namespace orrery
