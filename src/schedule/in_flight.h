// The activations that a device holds, computed from the order of its operations.
//
// A forward takes the memory of one microbatch and virtual stage when it begins; the input gradient
// leaves what the weight gradient still needs; a fused backward or the weight gradient frees the
// rest when it ends. An offload frees it, a reload takes it again (at the place in the order where
// they stand; execution.h knows the times).
#pragma once

#include <span>
#include <vector>

#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

struct InFlight {
  std::vector<int> held;     // by chunk of the device: microbatches between forward and gradient
  std::vector<int> pending;  // by chunk: whose weight gradient alone is still to come
  double memory = 0;         // their sum, each with its stage's memory
  bool operator==(const InFlight&) const = default;
};

// At the device's fullest moment; `memory` by virtual stage (empty: one unit each). O(operations of
// the device).
InFlight peak_in_flight(const Pipeline& pipeline, std::size_t device,
                        std::span<const StageMemory> memory = {});

}  // namespace orrery
