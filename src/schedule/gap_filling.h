// Puts the weight gradients of a schedule where its devices would otherwise wait.
//
// The forwards and input gradients of every device run as early as their order allows. While a
// device waits for the next one, it runs its oldest pending weight gradient; the rest follow at the
// end. The resulting order is fixed; executing it with other times or contended links may leave
// gaps.
//
// Not modelled: the time a link is taken by another transfer.
#pragma once

#include <limits>

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// any: start a weight gradient whenever the device waits; whole: only if it ends before the wait.
enum class Gaps { any, whole };

struct FilledPipeline {
  Pipeline pipeline;
  Picoseconds makespan;
};

// `pipeline.order` has only forwards and input gradients. `memory_limit` is the most a device may
// hold, in the units of the times' memory: before a forward that would exceed it, weight gradients
// come first. Errors: an order that deadlocks; a limit that is exceeded although no weight gradient
// is pending, with the memory that is needed. O(operations).
Result<FilledPipeline> with_weight_gradients(
    Pipeline pipeline, const PipelineTimes& times, Gaps gaps,
    double memory_limit = std::numeric_limits<double>::infinity());

}  // namespace orrery
