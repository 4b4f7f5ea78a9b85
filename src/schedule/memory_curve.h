// The activations that each device of an executed pipeline holds over time, and for how long.
//
// A forward takes the memory of one microbatch and virtual stage when it begins. The input gradient
// leaves, when it ends, what the weight gradient still needs; a fused backward or the weight
// gradient frees the rest when it ends. An offload frees it when it ends; a reload takes it again
// when it begins. Memory freed and memory taken at the same moment do not overlap. Units are
// those of PipelineTimes::memory (without it: microbatches of one virtual stage).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/execution.h"

namespace orrery {

// From `at` until the next change the device holds `held`.
struct MemoryChange {
  Picoseconds at;
  double held = 0;
};

// By device, in order of time, at most one change a moment. O(operations log operations).
std::vector<std::vector<MemoryChange>> memory_curves(const Pipeline& pipeline,
                                                     const PipelineExecution& execution,
                                                     const PipelineTimes& times);

// The lifetime of an activation reaches from the start of its forward to the end of its fused
// backward or weight gradient, wherever it is kept meanwhile. By device.
struct ActivationLifetimes {
  Picoseconds sum;
  Picoseconds longest;
  std::int64_t count = 0;
};
std::vector<ActivationLifetimes> activation_lifetimes(const Pipeline& pipeline,
                                                      const PipelineExecution& execution);

}  // namespace orrery
