#include "lower/shard_moves.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace orrery {
namespace {

bool has_forward(PipelineAction action) {
  return action == PipelineAction::forward || action == PipelineAction::forward_and_backward;
}
// Whose input gradients need the weights.
bool reads_weights_back(PipelineAction action) {
  return action == PipelineAction::backward || action == PipelineAction::input_gradient ||
         action == PipelineAction::forward_and_backward;
}
bool makes_gradients(PipelineAction action) {
  return action == PipelineAction::backward || action == PipelineAction::weight_gradient ||
         action == PipelineAction::forward_and_backward;
}
std::uint16_t backward_chunk(const PipelineOperation& op) {
  return op.action == PipelineAction::forward_and_backward ? op.backward_chunk : op.chunk;
}

}  // namespace

ShardMoves shard_moves(const Plan& plan, const SoftwareProfile& software) {
  if (plan.pp == 1) return {};
  if (software.pipeline_shards == PipelineShards::step) {
    return {ShardMove::each_step, ShardMove::each_step};
  }
  if (plan.chunks == 1) return {};
  return {plan.chunks == 2 ? ShardMove::each_step : ShardMove::each_turn, ShardMove::each_turn};
}

std::vector<ChunkUse> chunk_uses(const Pipeline& pipeline, std::span<const DeviceOperation> order) {
  struct Device {
    std::optional<std::uint16_t> forward, backward;  // the chunk of the one before
    std::optional<std::size_t> gradients;            // which operation made the last ones
    std::optional<std::size_t> last_forward;
  };
  std::vector<Device> devices(static_cast<std::size_t>(pipeline.shape.devices));
  std::vector<bool> opened(pipeline.stage.size());
  std::vector<std::optional<std::size_t>> last(pipeline.stage.size());
  std::vector<ChunkUse> out(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const PipelineOperation& op = order[i].operation;
    Device& device = devices[order[i].device];
    const std::size_t held = order[i].device * static_cast<std::size_t>(pipeline.chunks_held);
    if (has_forward(op.action)) {
      out[i].opens = !opened[held + op.chunk];
      opened[held + op.chunk] = true;
      out[i].turns_to = device.forward != op.chunk;
      device.last_forward = i;
      if (op.action == PipelineAction::forward && !device.backward) out[i].partner = Partner::none;
      device.forward = op.chunk;
    }
    const std::uint16_t back = backward_chunk(op);
    if (reads_weights_back(op.action)) {
      out[i].turns_back = device.backward != back;
      device.backward = back;
    }
    if (makes_gradients(op.action)) {
      if (device.gradients) {
        out[*device.gradients].turns_away =
            backward_chunk(order[*device.gradients].operation) != back;
      }
      device.gradients = i;
      last[held + back] = i;
    }
  }
  for (const Device& device : devices) {
    if (device.gradients) out[*device.gradients].turns_away = true;
  }
  for (const auto& i : last) {
    if (i) out[*i].closes = true;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool backward = order[i].operation.action == PipelineAction::backward;
    if (backward && i > devices[order[i].device].last_forward) out[i].partner = Partner::none;
  }
  return out;
}

bool gathers_weights(const Plan& plan, const ShardMoves& moves, Pass pass, const ChunkUse& use) {
  if (pass == Pass::weight_gradient) return false;
  const bool forward = pass == Pass::forward;
  if (plan.zero < 3) return forward && use.opens && plan.zero >= 1 && plan.overlap.parameter_gather;
  switch (moves.weights) {
    case ShardMove::each_pass:
      return true;
    case ShardMove::each_turn:
      return forward ? use.turns_to : use.turns_back;
    case ShardMove::each_step:
      return forward && use.opens;
  }
  return true;
}

int fewest_turns(const Schedule& schedule, const ScheduleRequest& request) {
  const int passes = request.shape.microbatches / schedule.routes;
  if (schedule.longest_run == nullptr) return std::min(passes, 1);
  const int run = schedule.longest_run(request);
  return (passes + run - 1) / run;
}

Reduce reduces_gradients(const Plan& plan, const ShardMoves& moves, Pass direction,
                         const ChunkUse& use) {
  if (direction == Pass::forward || direction == Pass::input_gradient) return Reduce::none;
  const bool beside = plan.overlap.gradient_reduction;
  bool whole = true;
  if (plan.zero < 2) {
    whole = use.closes && beside;
  } else if (moves.gradients != ShardMove::each_pass) {
    whole = moves.gradients == ShardMove::each_turn ? use.turns_away : use.closes;
  }
  if (!whole) return Reduce::none;
  return beside ? Reduce::beside : Reduce::blocking;
}

}  // namespace orrery
