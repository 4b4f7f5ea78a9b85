#include "schedule/in_flight.h"

#include <algorithm>

namespace orrery {

InFlight peak_in_flight(const Pipeline& pipeline, std::size_t device,
                        std::span<const StageMemory> memory) {
  const auto chunks = static_cast<std::size_t>(pipeline.chunks_held);
  InFlight now{std::vector<int>(chunks), std::vector<int>(chunks), 0};
  InFlight peak = now;
  const auto of = [&](std::size_t chunk) {
    return memory.empty() ? StageMemory() : memory[pipeline.stage_of(device, chunk)];
  };
  const auto take = [&](std::size_t chunk) {
    ++now.held[chunk];
    now.memory += of(chunk).forward;
    if (now.memory > peak.memory) peak = now;
  };
  const auto release = [&](std::size_t chunk) {
    --now.held[chunk];
    now.memory -= of(chunk).forward;
  };
  for (const PipelineOperation& op : pipeline.order[device]) {
    switch (op.action) {
      case PipelineAction::forward:
      case PipelineAction::reload:
        take(op.chunk);
        break;
      case PipelineAction::backward:
      case PipelineAction::offload:
        release(op.chunk);
        break;
      case PipelineAction::forward_and_backward:
        take(op.chunk);
        release(op.backward_chunk);
        break;
      case PipelineAction::input_gradient:
        release(op.chunk);
        ++now.pending[op.chunk];
        now.memory += of(op.chunk).weight_gradient;
        if (now.memory > peak.memory) peak = now;
        break;
      case PipelineAction::weight_gradient:
        --now.pending[op.chunk];
        now.memory -= of(op.chunk).weight_gradient;
        break;
      default:
        break;
    }
  }
  return peak;
}

double fullest_device(const Pipeline& pipeline, const PipelineTimes& times) {
  double out = 0;
  for (std::size_t d = 0; d < pipeline.order.size(); ++d) {
    out = std::max(out, peak_in_flight(pipeline, d, times.memory).memory);
  }
  return out;
}

}  // namespace orrery
