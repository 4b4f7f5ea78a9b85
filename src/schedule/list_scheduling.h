// Greedy list scheduling: a free device runs the most urgent operation that is ready.
//
//   Backwards come before forwards; among each, the lowest microbatch comes first, then the deepest
//   stage. A microbatch enters when fewer than `in_flight` others are between their first forward
//   and their last backward.
//
// Backwards are fused. Uses the times of the stages and of the transfers between devices. Not
// modelled: links that are occupied by another transfer. O(n log n) for n operations. Among equal
// times and urgencies, the lower device comes first, so the order is the same on every machine.
#pragma once

#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// Fills the order of `placed`, which has its seats and routes.
Pipeline list_scheduled(Pipeline placed, const PipelineTimes& times, int in_flight);

}  // namespace orrery
