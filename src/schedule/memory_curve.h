// The activations that each device of an executed pipeline holds over time, and for how long.
//
// A forward allocates the memory of one microbatch and virtual stage when it begins. When the input
// gradient ends, it frees all but what the weight gradient still needs; a fused backward or the
// weight gradient frees the rest when it ends. An offload frees the memory when it ends; a reload
// allocates it again when it begins. Memory freed and memory allocated at the same moment do not
// overlap. Units are those of PipelineTimes::memory (default: microbatches of one virtual stage).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/execution.h"

namespace orrery {

// The device holds `held` from `at` until the next change.
struct MemoryChange {
  Picoseconds at;
  double held = 0;
};

// By device, in order of time, at most one change at a time. O(operations log operations).
std::vector<std::vector<MemoryChange>> memory_curves(const Pipeline& pipeline,
                                                     const PipelineExecution& execution,
                                                     const PipelineTimes& times);

// The lifetime of an activation is from the start of its forward to the end of its fused backward
// or weight gradient, including the time in host memory. By device.
struct ActivationLifetimes {
  Picoseconds sum;
  Picoseconds longest;
  std::int64_t count = 0;
};
std::vector<ActivationLifetimes> activation_lifetimes(const Pipeline& pipeline,
                                                      const PipelineExecution& execution);

}  // namespace orrery
