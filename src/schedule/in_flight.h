// The activations that a device holds, computed from the order of its operations.
//
// A forward allocates the memory of one microbatch and virtual stage when it begins. The input
// gradient frees all but what the weight gradient still needs; a fused backward or the weight
// gradient frees the rest when it ends. An offload frees it and a reload allocates it again,
// at their places in the order. memory_curve.h has the same over time.
#pragma once

#include <span>
#include <vector>

#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

struct InFlight {
  std::vector<int> held;     // by chunk of the device: microbatches between forward and gradient
  std::vector<int> pending;  // by chunk: microbatches that only lack their weight gradient
  double memory = 0;         // of all of them
  bool operator==(const InFlight&) const = default;
};

// At the device's fullest moment; `memory` by virtual stage (empty: one unit each). O(operations of
// the device).
InFlight peak_in_flight(const Pipeline& pipeline, std::size_t device,
                        std::span<const StageMemory> memory = {});
// The most of any device.
double fullest_device(const Pipeline& pipeline, const PipelineTimes& times);

}  // namespace orrery
