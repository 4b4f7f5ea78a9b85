#include "replay/run_graph_file.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/run_category.h"

namespace orrery {
namespace {

struct RunKinds {
  NodeKind node = NodeKind::host;
  RunCategory category = RunCategory::host;
  auto operator<=>(const RunKinds&) const = default;
};

RunKinds kinds_of(const RunNode& node, const RecordedTrace& trace) {
  switch (node.kind) {
    case RunNodeKind::host:
    case RunNodeKind::call:
    case RunNodeKind::latency:
    case RunNodeKind::dispatch:
      return {NodeKind::host, RunCategory::host};
    case RunNodeKind::arrival:
    case RunNodeKind::rendezvous:
      return {NodeKind::barrier, RunCategory::host};
    case RunNodeKind::transfer:
      return {NodeKind::collective, RunCategory::communication};
    case RunNodeKind::work:
      break;
  }
  if (trace.kind[node.event] != EventKind::kernel) return {NodeKind::copy, RunCategory::copying};
  return is_communication_kernel(trace.name_of(node.event))
             ? RunKinds{NodeKind::collective, RunCategory::communication}
             : RunKinds{NodeKind::kernel, RunCategory::computing};
}

}  // namespace

GraphFile graph_file(std::span<const RecordedTrace> traces, const RunGraph& run) {
  const LoweredRun lowered = lowered_run(run);
  const auto rank_of = [&](std::uint32_t trace) {
    const std::int64_t rank = traces[trace].rank;
    return rank == kNotRecorded || rank < 0 ? trace : static_cast<std::uint32_t>(rank);
  };
  GraphFile out;
  GraphBuilder builder(run_categories());
  builder.reserve(lowered.graph.size(), lowered.graph.edges());
  for (const RunLane& lane : run.lanes) {
    const std::int64_t number = traces[lane.trace].lanes[lane.lane].thread;
    builder.add_stream(
        {rank_of(lane.trace), lane.device ? StreamRole::compute : StreamRole::host,
         builder.add_name((lane.device ? "stream " : "thread ") + std::to_string(number))});
  }
  std::vector<StreamIndex> wires;
  for (std::uint32_t t = 0; t < traces.size(); ++t) {
    wires.push_back(builder.add_stream({rank_of(t), StreamRole::wire}));
  }
  std::unordered_map<std::string_view, std::map<RunKinds, OperationIndex>> known;  // by name
  std::vector<std::uint32_t> position(run.nodes.size());
  std::vector<NodeIndex> after;
  for (std::uint32_t i = 0; i < lowered.order.size(); ++i) {
    const RunNode& node = run.nodes[lowered.order[i]];
    position[lowered.order[i]] = i;
    const NodeIndex n(i);
    const RecordedTrace& trace = traces[node.trace];
    const std::string_view text =
        node.event == kNoEvent ? to_text(node.kind) : trace.name_of(node.event);
    const RunKinds kinds = kinds_of(node, trace);
    const auto [operation, fresh] = known[text].try_emplace(kinds);
    if (fresh) {
      operation->second = builder.add_operation({.kind = kinds.node,
                                                 .category = index(kinds.category),
                                                 .name = builder.add_name(std::string(text))});
    }
    after.clear();
    for (const std::uint32_t p : lowered.graph.predecessors(n)) after.emplace_back(p);
    builder.add(
        {operation->second, node.lane == kNoLane ? wires[node.trace] : StreamIndex(node.lane),
         lowered.graph.duration(n)},
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

GraphFile graph_file(const ChakraGraph& graph) { return {graph.graph, {}}; }

}  // namespace orrery
