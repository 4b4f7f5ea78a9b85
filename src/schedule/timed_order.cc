#include "schedule/timed_order.h"

#include <algorithm>

#include "schedule/linear_order.h"

namespace orrery {

Result<TimedOrder> timed_order(const Pipeline& pipeline, const PipelineTimes& times) {
  const auto linear = linear_order(pipeline);
  if (!linear) return bad_input("the order of the operations deadlocks");
  const std::size_t stages = pipeline.stages();
  const auto microbatches = static_cast<std::size_t>(pipeline.shape.microbatches);
  TimedOrder out;
  out.start.resize(pipeline.order.size());
  out.end.resize(pipeline.order.size());
  std::vector<Picoseconds> free(pipeline.order.size());
  std::vector<Picoseconds> ended(2 * stages * microbatches);  // every forward, then every backward
  const auto end_of = [&](bool forward, std::size_t s, std::size_t j) -> Picoseconds& {
    return ended[((forward ? 0 : stages) + s) * microbatches + j];
  };
  for (const auto& [device, op] : *linear) {
    const std::size_t s = pipeline.stage_of(device, op.chunk);
    const bool forward = op.action == PipelineAction::forward;
    const bool weights = op.action == PipelineAction::weight_gradient;
    Picoseconds start = free[device];
    if (!weights && (forward ? s > 0 : s + 1 < stages)) {
      const std::size_t from = forward ? s - 1 : s + 1;
      const std::size_t sender = pipeline.seat(op.microbatch, from).device;
      start = std::max(start, end_of(forward, from, op.microbatch) + times.hop(sender, device));
    }
    const StageTimes& stage = times.stage[s];
    const Picoseconds time = forward                                       ? stage.forward
                             : op.action == PipelineAction::backward       ? stage.backward
                             : op.action == PipelineAction::input_gradient ? stage.input_gradient
                                                                           : stage.weight_gradient;
    free[device] = start + times.on(device, time);
    out.start[device].push_back(start);
    out.end[device].push_back(free[device]);
    out.makespan = std::max(out.makespan, free[device]);
    if (!weights) end_of(forward, s, op.microbatch) = free[device];
  }
  return out;
}

}  // namespace orrery
