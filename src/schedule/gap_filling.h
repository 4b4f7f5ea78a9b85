// Puts the weight gradients of a schedule where its devices would otherwise wait.
//
// Given the order of forwards and input gradients of every device, each is run as soon as it can
// be; while a device waits for its next one it runs the oldest weight gradient it has pending, and
// at the end those that are left. The resulting order is fixed; executing it with other times or
// contended links may leave gaps.
//
// Not modelled: the time a link is taken by another transfer.
#pragma once

#include <limits>

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// any: begin a weight gradient in every wait; whole: only if it ends before the wait does.
enum class Gaps { any, whole };

struct GapFilling {
  Gaps gaps = Gaps::any;
  // Most a device may hold, in the units of the times' memory: before a forward that would exceed
  // it, weight gradients come first.
  double memory_limit = std::numeric_limits<double>::infinity();
};

struct FilledPipeline {
  Pipeline pipeline;
  Picoseconds makespan;
};

// `pipeline.order` has only forwards and input gradients. Errors: an order that deadlocks; a limit
// that is exceeded although no weight gradient is pending, with the memory that is needed.
// O(operations).
Result<FilledPipeline> with_weight_gradients(Pipeline pipeline, const PipelineTimes& times,
                                             const GapFilling& filling = {});

}  // namespace orrery
