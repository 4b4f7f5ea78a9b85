#include "replay/run_graph.h"

#include <array>
#include <cmath>
#include <utility>

namespace orrery {
namespace {

template <class Visit>
void for_each_dependency(const RunGraph& run, Visit visit) {
  for (const RunLane& lane : run.lanes) {
    for (std::size_t i = 1; i < lane.nodes.size(); ++i) visit(lane.nodes[i - 1], lane.nodes[i]);
  }
  for (const RunEdge& edge : run.edges) visit(edge.from, edge.to);
}

constexpr NodeKind node_kind(RunNodeKind kind) {
  switch (kind) {
    case RunNodeKind::host:
    case RunNodeKind::call:
    case RunNodeKind::latency:
      return NodeKind::host;
    case RunNodeKind::work:
    case RunNodeKind::dispatch:
      return NodeKind::kernel;
    case RunNodeKind::arrival:
    case RunNodeKind::transfer:
      return NodeKind::collective;
    case RunNodeKind::rendezvous:
      return NodeKind::barrier;
  }
  return NodeKind::host;
}

}  // namespace

std::vector<std::uint32_t> RunGraph::works_of_nodes() const {
  std::vector<std::uint32_t> out(nodes.size(), kNoEvent);
  for (std::uint32_t w = 0; w < works.size(); ++w) {
    for (std::uint32_t n = works[w].first; n <= works[w].last; ++n) out[n] = w;
  }
  return out;
}

LoweredRun lowered_run(const RunGraph& run) {
  TopologicalOrder order = topological_order(
      EdgeLists(run.nodes.size(), [&](const auto& add) { for_each_dependency(run, add); }));
  const std::vector<std::uint32_t> position = std::move(order.position);
  LoweredRun lowered;
  lowered.order = std::move(order.nodes);
  GraphBuilder builder;
  builder.reserve(run.nodes.size(), run.edges.size() + run.nodes.size());
  for (const RunLane& lane : run.lanes) {
    builder.add_stream({lane.trace, lane.device ? StreamRole::compute : StreamRole::host});
  }
  const StreamIndex wire = builder.add_stream({0, StreamRole::wire});
  std::array<OperationIndex, 8> operations;
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const auto kind = static_cast<RunNodeKind>(k);
    operations[k] =
        builder.intern({.kind = node_kind(kind), .name = builder.intern(to_text(kind))});
  }
  // Explicit predecessors; the order of a lane holds by itself, except where a cycle was broken.
  const EdgeLists sources(run.nodes.size(), [&](const auto& add) {
    for (const RunEdge& edge : run.edges) add(edge.to, edge.from);
  });
  std::vector<NodeIndex> after;
  for (std::uint32_t i = 0; i < lowered.order.size(); ++i) {
    const std::uint32_t n = lowered.order[i];
    const RunNode& node = run.nodes[n];
    after.clear();
    for (const std::uint32_t source : sources[n]) {
      if (position[source] < i) {
        after.emplace_back(position[source]);
      } else {
        ++lowered.dropped_edges;
      }
    }
    builder.add({operations[static_cast<std::size_t>(node.kind)],
                 node.lane == kNoLane ? wire : StreamIndex(node.lane),
                 Picoseconds(static_cast<double>(node.duration_ns) * 1000), n},
                after);
  }
  lowered.graph = builder.build();
  return lowered;
}

ReplayedRun replayed_run(const RunGraph& run) {
  LoweredRun lowered = lowered_run(run);
  const Timeline timeline = simulate(lowered.graph);
  lowered.graph = Graph();  // large, and done with
  ReplayedRun replayed;
  replayed.dropped_edges = lowered.dropped_edges;
  replayed.start_ns.resize(run.nodes.size());
  replayed.end_ns.resize(run.nodes.size());
  for (std::size_t i = 0; i < lowered.order.size(); ++i) {
    const std::uint32_t n = lowered.order[i];
    replayed.end_ns[n] = std::llround(timeline.end_ps[i] / 1000);
    replayed.start_ns[n] = replayed.end_ns[n] - run.nodes[n].duration_ns;
  }
  return replayed;
}

CriticalChains critical_chains(const RunGraph& run, const ReplayedRun& replayed) {
  std::vector<double> end_ps;
  end_ps.reserve(run.nodes.size());
  for (const std::int64_t ns : replayed.end_ns) end_ps.push_back(static_cast<double>(ns) * 1000);
  return {std::move(end_ps), EdgeLists(run.nodes.size(), [&](const auto& add) {
            for_each_dependency(run, [&](std::uint32_t from, std::uint32_t to) {
              if (replayed.end_ns[from] <= replayed.start_ns[to]) add(to, from);
            });
          })};
}

}  // namespace orrery
