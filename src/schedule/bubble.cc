#include "schedule/bubble.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

std::size_t index(const DeviceOperation& op) {
  return static_cast<std::size_t>(op.operation.action);
}

// Fill, drain and dependency of each device for these durations of all nodes.
std::vector<IdleTime> idle_of(const PipelineExecution& execution, std::size_t devices,
                              const std::vector<double>& durations) {
  const PipelineGraph& g = execution.graph;
  const Timeline timeline = simulate(g.graph, durations);
  std::vector<IdleTime> out(devices);
  std::vector<Picoseconds> free(devices);
  std::vector<char> begun(devices);
  Picoseconds makespan;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const NodeIndex n = g.nodes[i];
    if (g.graph.kind(n) != NodeKind::kernel) continue;
    const std::size_t d = g.operations[i].device;
    const Picoseconds end = timeline.end(n);
    const Picoseconds start = end - Picoseconds(durations[n.value()]);
    out[d][begun[d] == 0 ? IdleCause::fill : IdleCause::dependency] += start - free[d];
    begun[d] = 1;
    free[d] = end;
    makespan = std::max(makespan, end);
  }
  for (std::size_t d = 0; d < devices; ++d) out[d][IdleCause::drain] = makespan - free[d];
  return out;
}

std::vector<double> without_communication(const PipelineExecution& execution) {
  const Graph& graph = execution.graph.graph;
  std::vector<double> out(graph.durations().begin(), graph.durations().end());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.kind(NodeIndex(i)) != NodeKind::kernel) out[i] = 0;
  }
  return out;
}

std::vector<double> balanced(const PipelineExecution& execution, std::vector<double> durations) {
  const PipelineGraph& g = execution.graph;
  std::array<double, kPipelineActions> sum{};
  std::array<double, kPipelineActions> count{};
  for (std::size_t i = 0; i < g.operations.size(); ++i) {
    sum[index(g.operations[i])] += durations[g.nodes[i].value()];
    ++count[index(g.operations[i])];
  }
  for (std::size_t i = 0; i < g.operations.size(); ++i) {
    const std::size_t a = index(g.operations[i]);
    durations[g.nodes[i].value()] = std::nearbyint(sum[a] / count[a]);
  }
  return durations;
}

}  // namespace

std::vector<IdleTime> idle_by_cause(const Pipeline& pipeline, const PipelineExecution& execution) {
  const auto devices = static_cast<std::size_t>(pipeline.shape.devices);
  const std::vector<double> durations = without_communication(execution);
  std::vector<IdleTime> out = idle_of(execution, devices, durations);
  const std::vector<IdleTime> even = idle_of(execution, devices, balanced(execution, durations));
  for (std::size_t d = 0; d < devices; ++d) {
    const Picoseconds without = out[d].total();
    for (const IdleCause cause : {IdleCause::fill, IdleCause::drain, IdleCause::dependency}) {
      const Picoseconds kept = std::min(out[d][cause], even[d][cause]);
      out[d][IdleCause::imbalance] += out[d][cause] - kept;
      out[d][cause] = kept;
    }
    out[d][IdleCause::communication] =
        execution.measures.makespan - execution.measures.busy[d] - without;
  }
  return out;
}

}  // namespace orrery
