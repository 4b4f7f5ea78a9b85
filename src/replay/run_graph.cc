#include "replay/run_graph.h"

#include <array>
#include <cmath>
#include <utility>

namespace orrery {
namespace {

// What must be done before a node, counted, and what it lets go, as lists.
struct Dependents {
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> targets;
  std::vector<std::uint32_t> waits_for;
};

template <class Visit>
void for_each_dependency(const RunGraph& run, Visit visit) {
  for (const RunLane& lane : run.lanes) {
    for (std::size_t i = 1; i < lane.nodes.size(); ++i) visit(lane.nodes[i - 1], lane.nodes[i]);
  }
  for (const RunEdge& edge : run.edges) visit(edge.from, edge.to);
}

Dependents dependents_of(const RunGraph& run) {
  Dependents d;
  d.offsets.assign(run.nodes.size() + 1, 0);
  d.waits_for.assign(run.nodes.size(), 0);
  for_each_dependency(run, [&](std::uint32_t from, std::uint32_t to) {
    ++d.offsets[from + 1];
    ++d.waits_for[to];
  });
  for (std::size_t i = 1; i < d.offsets.size(); ++i) d.offsets[i] += d.offsets[i - 1];
  d.targets.resize(d.offsets.back());
  std::vector<std::uint32_t> next(d.offsets.begin(), d.offsets.end() - 1);
  for_each_dependency(run,
                      [&](std::uint32_t from, std::uint32_t to) { d.targets[next[from]++] = to; });
  return d;
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

// Every node after those it waits for.
struct ExecutionOrder {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> position;  // of a node, in `nodes`
};

ExecutionOrder order_of(const RunGraph& run) {
  Dependents d = dependents_of(run);
  ExecutionOrder order;
  order.nodes.reserve(run.nodes.size());
  constexpr std::uint32_t kNotYet = kNoEvent;
  std::vector<std::uint32_t>& position = order.position;
  position.assign(run.nodes.size(), kNotYet);
  const auto place = [&](std::uint32_t node) {
    position[node] = static_cast<std::uint32_t>(order.nodes.size());
    order.nodes.push_back(node);
  };
  for (std::uint32_t n = 0; n < run.nodes.size(); ++n) {
    if (d.waits_for[n] == 0) place(n);
  }
  std::uint32_t next_forced = 0;
  for (std::size_t done = 0; done < run.nodes.size(); ++done) {
    if (done == order.nodes.size()) {
      // Only cycles are left: the first node of the recording goes ahead without the rest.
      while (position[next_forced] != kNotYet) ++next_forced;
      place(next_forced);
    }
    const std::uint32_t node = order.nodes[done];
    for (std::uint32_t i = d.offsets[node]; i < d.offsets[node + 1]; ++i) {
      const std::uint32_t target = d.targets[i];
      if (position[target] == kNotYet && --d.waits_for[target] == 0) place(target);
    }
  }
  return order;
}

}  // namespace

std::span<const EnumName<RunNodeKind>> names_of(RunNodeKind) {
  using enum RunNodeKind;
  static constexpr auto kNames = std::to_array<EnumName<RunNodeKind>>({
      {host, "host"},
      {call, "call"},
      {latency, "latency"},
      {dispatch, "dispatch"},
      {work, "work"},
      {arrival, "arrival"},
      {rendezvous, "rendezvous"},
      {transfer, "transfer"},
  });
  return kNames;
}

LoweredRun lowered_run(const RunGraph& run) {
  ExecutionOrder order = order_of(run);
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
  std::vector<std::uint32_t> offsets(run.nodes.size() + 1, 0);
  for (const RunEdge& edge : run.edges) ++offsets[edge.to + 1];
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  std::vector<std::uint32_t> sources(run.edges.size());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  for (const RunEdge& edge : run.edges) sources[next[edge.to]++] = edge.from;
  std::vector<NodeIndex> after;
  for (std::uint32_t i = 0; i < lowered.order.size(); ++i) {
    const std::uint32_t n = lowered.order[i];
    const RunNode& node = run.nodes[n];
    after.clear();
    for (std::uint32_t e = offsets[n]; e < offsets[n + 1]; ++e) {
      if (position[sources[e]] < i) {
        after.emplace_back(position[sources[e]]);
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

}  // namespace orrery
