// Greedy list scheduling: a device that is free runs what is ready, the most urgent first.
//
//   Backwards before forwards, among each the lowest microbatch, then the deepest stage. A
//   microbatch enters when fewer than `in_flight` others are between their first forward and their
//   last backward.
//
// Backwards are fused. Uses the times of the stages and of the transfers between devices. Not
// modelled: links that are occupied by another transfer. O(n log n) for n operations; of equal
// times and urgencies, the lower device decides first, so the order found is the same on every
// machine.
#pragma once

#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// Fills the order of `placed`, which has its seats and routes.
Pipeline list_scheduled(Pipeline placed, const PipelineTimes& times, int in_flight);

}  // namespace orrery
