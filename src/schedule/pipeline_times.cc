#include "schedule/pipeline_times.h"

#include <algorithm>

namespace orrery {

std::size_t PipelineTimes::between_index(const std::vector<Picoseconds>& by_boundary, std::size_t a,
                                         std::size_t b) {
  const std::size_t p = by_boundary.size();
  // Of two devices the one boundary, whichever way.
  if (a + 1 == b || b + 1 == a) return std::min(a, b);
  if (a + 1 == p + b || b + 1 == p + a) return p - 1;
  return static_cast<std::size_t>(std::ranges::max_element(by_boundary) - by_boundary.begin());
}

PipelineTimes equal_times(const PipelineShape& shape, Picoseconds forward,
                          Picoseconds input_gradient, Picoseconds weight_gradient,
                          Picoseconds latency) {
  StageTimes one;
  one.forward = forward;
  one.input_gradient = input_gradient;
  one.weight_gradient = weight_gradient;
  one.backward = input_gradient + weight_gradient;
  one.forward_and_backward = forward + one.backward;
  PipelineTimes out;
  out.stage.assign(static_cast<std::size_t>(shape.virtual_stages()), one);
  const auto devices = static_cast<std::size_t>(shape.devices);
  out.transfer.assign(devices, Picoseconds(0));
  out.latency.assign(devices, latency);
  return out;
}

PipelineTimes joined_times(PipelineTimes times, std::size_t joined) {
  if (joined <= 1) return times;
  std::vector<StageTimes> stages(times.stage.size() / joined);
  std::vector<StageMemory> memory(stages.size(), {0, 0});
  for (std::size_t s = 0; s < stages.size() * joined; ++s) {
    for (const auto pass :
         {&StageTimes::forward, &StageTimes::input_gradient, &StageTimes::weight_gradient,
          &StageTimes::backward, &StageTimes::forward_and_backward, &StageTimes::offload,
          &StageTimes::reload}) {
      stages[s / joined].*pass += times.stage[s].*pass;
    }
    memory[s / joined].forward += times.memory_of(s).forward;
    memory[s / joined].weight_gradient += times.memory_of(s).weight_gradient;
  }
  times.stage = std::move(stages);
  times.memory = std::move(memory);
  return times;
}

}  // namespace orrery
