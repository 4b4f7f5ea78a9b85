#include "replay/bound_by.h"

#include <algorithm>

namespace orrery {
namespace {

// What each node waited for, as lists; the node before it on its lane comes first.
struct Sources {
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> nodes;
};

Sources sources_of(const RunGraph& graph) {
  Sources sources;
  sources.offsets.assign(graph.nodes.size() + 1, 0);
  for (const RunLane& lane : graph.lanes) {
    for (std::size_t i = 1; i < lane.nodes.size(); ++i) ++sources.offsets[lane.nodes[i] + 1];
  }
  for (const RunEdge& edge : graph.edges) ++sources.offsets[edge.to + 1];
  for (std::size_t i = 1; i < sources.offsets.size(); ++i) {
    sources.offsets[i] += sources.offsets[i - 1];
  }
  sources.nodes.resize(sources.offsets.back());
  std::vector<std::uint32_t> next(sources.offsets.begin(), sources.offsets.end() - 1);
  for (const RunLane& lane : graph.lanes) {
    for (std::size_t i = 1; i < lane.nodes.size(); ++i) {
      sources.nodes[next[lane.nodes[i]]++] = lane.nodes[i - 1];
    }
  }
  for (const RunEdge& edge : graph.edges) sources.nodes[next[edge.to]++] = edge.from;
  return sources;
}

Seconds& part_of(BoundBy& parts, const RunNode& node, std::uint32_t trace) {
  if (node.trace != trace) return parts.other_ranks;
  switch (node.kind) {
    case RunNodeKind::host:
    case RunNodeKind::call:
      return parts.host;
    case RunNodeKind::latency:
    case RunNodeKind::dispatch:
      return parts.launches;
    case RunNodeKind::work:
      return parts.device;
    case RunNodeKind::arrival:
    case RunNodeKind::rendezvous:
    case RunNodeKind::transfer:
      return parts.communication;
  }
  return parts.host;
}

Seconds from_ns(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

BoundBy walked_back(const RunGraph& graph, const ReplayedRun& replayed, const Sources& sources,
                    const RunStep& step) {
  BoundBy parts;
  const std::int64_t from = step.from == kNoEvent ? 0 : replayed.end_ns[step.from];
  std::int64_t until = replayed.end_ns[step.to];
  std::uint32_t node = step.to;
  // An edge that was dropped to break a cycle could lead in circles: no path is longer than this.
  for (std::size_t taken = 0; taken < graph.nodes.size() && until > from; ++taken) {
    std::uint32_t source = kNoEvent;
    for (std::uint32_t i = sources.offsets[node]; i < sources.offsets[node + 1]; ++i) {
      const std::uint32_t candidate = sources.nodes[i];
      if (replayed.end_ns[candidate] > replayed.start_ns[node]) continue;
      if (source == kNoEvent || replayed.end_ns[candidate] > replayed.end_ns[source]) {
        source = candidate;
      }
    }
    const std::int64_t begin = source == kNoEvent ? from : std::max(from, replayed.end_ns[source]);
    part_of(parts, graph.nodes[node], step.trace) += from_ns(until - begin);
    until = begin;
    if (source == kNoEvent) break;
    node = source;
  }
  return parts;
}

}  // namespace

std::vector<BoundBy> bound_by(const RunGraph& graph, const ReplayedRun& replayed) {
  const Sources sources = sources_of(graph);
  std::vector<BoundBy> result;
  result.reserve(graph.steps.size());
  for (const RunStep& step : graph.steps) {
    result.push_back(walked_back(graph, replayed, sources, step));
  }
  return result;
}

}  // namespace orrery
