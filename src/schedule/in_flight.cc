#include "schedule/in_flight.h"

#include <algorithm>

namespace orrery {

InFlight peak_in_flight(const Pipeline& pipeline, std::size_t device,
                        std::span<const StageMemory> memory) {
  const auto chunks = static_cast<std::size_t>(pipeline.chunks_held);
  InFlight now{std::vector<int>(chunks), std::vector<int>(chunks), 0};
  InFlight peak = now;
  for (const PipelineOperation& op : pipeline.order[device]) {
    for_each_change(op, [&](std::size_t chunk, int activations, int pending) {
      const StageMemory of =
          memory.empty() ? StageMemory() : memory[pipeline.stage_of(device, chunk)];
      now.held[chunk] += activations;
      now.pending[chunk] += pending;
      now.memory += activations * of.forward;
      now.memory += pending * of.weight_gradient;
      if (now.memory > peak.memory) peak = now;
    });
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
