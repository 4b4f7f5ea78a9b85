#include "schedule/memory_curve.h"

#include <algorithm>

namespace orrery {

std::vector<std::vector<MemoryChange>> memory_curves(const Pipeline& pipeline,
                                                     const PipelineExecution& execution,
                                                     const PipelineTimes& times) {
  const PipelineGraph& g = execution.graph;
  // First what each moment changes, then the running sum; frees sort before takes.
  std::vector<std::vector<MemoryChange>> out(static_cast<std::size_t>(pipeline.shape.devices));
  for (std::size_t i = 0; i < g.operations.size(); ++i) {
    const std::size_t device = g.operations[i].device;
    const PipelineOperation& op = g.operations[i].operation;
    const Picoseconds end = execution.timeline.end(g.nodes[i]);
    const Picoseconds start = execution.timeline.start(g.graph, g.nodes[i]);
    for_each_change(op, [&](std::size_t chunk, int activations, int pending) {
      const StageMemory memory = times.memory_of(pipeline.stage_of(device, chunk));
      out[device].push_back({activations > 0 ? start : end,
                             pending * memory.weight_gradient + activations * memory.forward});
    });
  }
  for (std::vector<MemoryChange>& curve : out) {
    std::ranges::sort(curve, [](const MemoryChange& a, const MemoryChange& b) {
      return a.at != b.at ? a.at < b.at : a.held < b.held;
    });
    double held = 0;
    std::size_t kept = 0;
    for (const MemoryChange& change : curve) {
      held += change.held;
      if (kept > 0 && curve[kept - 1].at == change.at) {
        curve[kept - 1].held = held;
      } else {
        curve[kept++] = {change.at, held};
      }
    }
    curve.resize(kept);
  }
  return out;
}

std::vector<ActivationLifetimes> activation_lifetimes(const Pipeline& pipeline,
                                                      const PipelineExecution& execution) {
  const PipelineGraph& g = execution.graph;
  std::vector<ActivationLifetimes> out(static_cast<std::size_t>(pipeline.shape.devices));
  const auto microbatches = static_cast<std::size_t>(pipeline.shape.microbatches);
  std::vector<Picoseconds> forward(pipeline.stages() * microbatches);
  const auto begins = [&](std::size_t s, std::size_t j, std::size_t i) {
    forward[s * microbatches + j] = execution.timeline.start(g.graph, g.nodes[i]);
  };
  const auto ends = [&](std::size_t s, std::size_t j, std::size_t i) {
    const Picoseconds life = execution.timeline.end(g.nodes[i]) - forward[s * microbatches + j];
    ActivationLifetimes& of_device = out[g.operations[i].device];
    of_device.sum += life;
    of_device.longest = std::max(of_device.longest, life);
    ++of_device.count;
  };
  for (std::size_t i = 0; i < g.operations.size(); ++i) {
    const PipelineOperation& op = g.operations[i].operation;
    const std::size_t s = pipeline.stage_of(g.operations[i].device, op.chunk);
    switch (op.action) {
      case PipelineAction::forward:
        begins(s, op.microbatch, i);
        break;
      case PipelineAction::backward:
      case PipelineAction::weight_gradient:
        ends(s, op.microbatch, i);
        break;
      case PipelineAction::forward_and_backward:
        begins(s, op.microbatch, i);
        ends(pipeline.stage_of(g.operations[i].device, op.backward_chunk), op.backward_microbatch,
             i);
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace orrery
