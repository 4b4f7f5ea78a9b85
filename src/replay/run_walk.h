// The critical path of a replayed run up to the end of a node, followed back from there: the chain
// of nodes each of which could begin because the one before it ended.
//
//   before(n) = of the node before n on its lane and all nodes that n waits for, the one that ended
//               last
//
// Among nodes that ended together, the one on the same lane comes first, then edges in the order of
// the graph, so the chain is deterministic. Every stretch of time up to the start belongs to
// exactly one node: the chain's times add up to its length.
//
// O(nodes + edges) once for a graph, O(length of the chain) for each path.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/run_graph.h"

namespace orrery {

// A node of the chain, and the part of its time that belongs to the path.
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
