#include "replay/run_walk.h"

#include <algorithm>

namespace orrery {

RunWalk::RunWalk(const RunGraph& graph, const ReplayedRun& replayed)
    : graph_(graph), replayed_(replayed) {
  offsets_.assign(graph.nodes.size() + 1, 0);
  for (const RunLane& lane : graph.lanes) {
    for (std::size_t i = 1; i < lane.nodes.size(); ++i) ++offsets_[lane.nodes[i] + 1];
  }
  for (const RunEdge& edge : graph.edges) ++offsets_[edge.to + 1];
  for (std::size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
  sources_.resize(offsets_.back());
  across_streams_.resize(offsets_.back());
  std::vector<std::uint32_t> next(offsets_.begin(), offsets_.end() - 1);
  for (const RunLane& lane : graph.lanes) {
    for (std::size_t i = 1; i < lane.nodes.size(); ++i) {
      sources_[next[lane.nodes[i]]++] = lane.nodes[i - 1];
    }
  }
  for (const RunEdge& edge : graph.edges) {
    across_streams_[next[edge.to]] = edge.across_streams;
    sources_[next[edge.to]++] = edge.from;
  }
}

std::vector<WalkedNode> RunWalk::back(std::uint32_t last, std::int64_t from_ns) const {
  std::vector<WalkedNode> chain;
  std::int64_t until = replayed_.end_ns[last];
  std::uint32_t node = last;
  bool across = false;
  // An edge that was dropped to break a cycle could lead in circles: no chain is longer than this.
  for (std::size_t taken = 0; taken < graph_.nodes.size() && until > from_ns; ++taken) {
    std::uint32_t source = kNoEvent;
    bool source_across = false;
    for (std::uint32_t i = offsets_[node]; i < offsets_[node + 1]; ++i) {
      const std::uint32_t candidate = sources_[i];
      if (replayed_.end_ns[candidate] > replayed_.start_ns[node]) continue;
      if (source == kNoEvent || replayed_.end_ns[candidate] > replayed_.end_ns[source]) {
        source = candidate;
        source_across = across_streams_[i];
      }
    }
    const std::int64_t begin =
        source == kNoEvent ? from_ns : std::max(from_ns, replayed_.end_ns[source]);
    chain.push_back({.node = node, .begin_ns = begin, .end_ns = until, .across_streams = across});
    until = begin;
    if (source == kNoEvent) break;
    node = source;
    across = source_across;
  }
  return chain;
}

}  // namespace orrery
