#include "replay/run_graph_file.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery {
namespace {

struct Kinds {
  NodeKind node = NodeKind::host;
  Category category = Category::host;
};

Kinds kinds_of(const RunNode& node, const RecordedTrace& trace) {
  switch (node.kind) {
    case RunNodeKind::host:
    case RunNodeKind::call:
    case RunNodeKind::latency:
    case RunNodeKind::dispatch:
      return {NodeKind::host, Category::host};
    case RunNodeKind::arrival:
    case RunNodeKind::rendezvous:
      return {NodeKind::barrier, Category::host};
    case RunNodeKind::transfer:
      return {NodeKind::collective, Category::exposed_dp};
    case RunNodeKind::work:
      break;
  }
  if (trace.kind[node.event] != EventKind::kernel) return {NodeKind::copy, Category::elementwise};
  return is_communication_kernel(trace.name_of(node.event))
             ? Kinds{NodeKind::collective, Category::exposed_dp}
             : Kinds{NodeKind::kernel, Category::elementwise};
}

}  // namespace

GraphFile graph_file(std::span<const RecordedTrace> traces, const RunGraph& run) {
  const LoweredRun lowered = lowered_run(run);
  const auto rank_of = [&](std::uint32_t trace) {
    const std::int64_t rank = traces[trace].rank;
    return rank == kNotRecorded || rank < 0 ? trace : static_cast<std::uint32_t>(rank);
  };
  GraphFile out;
  GraphBuilder builder;
  builder.reserve(lowered.graph.size(), lowered.graph.edges());
  for (const RunLane& lane : run.lanes) {
    builder.add_stream({rank_of(lane.trace), lane.device ? StreamKind::compute : StreamKind::host});
    const std::int64_t number = traces[lane.trace].lanes[lane.lane].thread;
    out.stream_names.push_back((lane.device ? "stream " : "thread ") + std::to_string(number));
  }
  std::vector<StreamIndex> wires;
  for (std::uint32_t t = 0; t < traces.size(); ++t) {
    wires.push_back(builder.add_stream({rank_of(t), StreamKind::wire}));
    out.stream_names.emplace_back();
  }
  std::unordered_map<std::string_view, NameIndex> names;
  std::vector<std::uint32_t> position(run.nodes.size());
  std::vector<NodeIndex> after;
  for (std::uint32_t i = 0; i < lowered.order.size(); ++i) {
    const RunNode& node = run.nodes[lowered.order[i]];
    position[lowered.order[i]] = i;
    const NodeIndex n(i);
    const RecordedTrace& trace = traces[node.trace];
    const std::string_view text =
        node.event == kNoEvent ? name(node.kind) : trace.name_of(node.event);
    const auto [known, fresh] = names.try_emplace(text);
    if (fresh) known->second = builder.add_name(std::string(text));
    const Kinds kinds = kinds_of(node, trace);
    after.clear();
    for (const std::uint32_t p : lowered.graph.predecessors(n)) after.emplace_back(p);
    builder.add(
        NodeSpec{.kind = kinds.node,
                 .category = kinds.category,
                 .name = known->second,
                 .stream = node.lane == kNoLane ? wires[node.trace] : StreamIndex(node.lane),
                 .duration = lowered.graph.duration(n)},
        after);
  }
  out.graph = builder.build();
  for (const RunStep& step : run.steps) {
    GraphFileStep to;
    to.rank = rank_of(step.trace);
    to.name = step.name;
    if (step.from != kNoEvent) to.after = position[step.from];
    to.until = position[step.to];
    to.recorded_ps = static_cast<double>(step.end_ns - step.start_ns) * 1000;
    out.steps.push_back(std::move(to));
  }
  return out;
}

GraphFile graph_file(const ChakraGraph& graph) { return {graph.graph, graph.streams, {}}; }

}  // namespace orrery
