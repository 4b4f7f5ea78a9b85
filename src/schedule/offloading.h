// Copies activations to host memory between a forward and its backward, and back in time.
//
// The order is timed as given. A round trip r is an offload and a reload of a microbatch and chunk.
//   Which: the chunks of a device with the longest lifetimes, up to `share` of all its chunks and
//   as many as the link can carry: the sum of r over them is at most F + B + W of all its chunks,
//   for one microbatch (k <= 1 in the notation of the paper). A part of a chunk means one in so
//   many microbatches. Only activations that are idle for more than three round trips are copied.
//   When: offloads follow each other at a distance of r from the end of their forward. Reloads are
//   placed from the last backward to the first, at a distance of r, so that each arrives the time
//   of one backward before it is needed. A pair whose reload would begin before its offload ends is
//   not offloaded.
// In the order of its device, a copy comes before the operation that is running when it begins.
//
// Source: arXiv 2503.01328 (selective offload by lifespan, k). Not modelled: two devices that share
// a link to the host; forwards of the warm-up postponed to their consumers.
#pragma once

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// `share`, from 0 to 1, of the activations of every device. Error: the order deadlocks. O(n log n).
Result<Pipeline> with_offloading(Pipeline pipeline, const PipelineTimes& times, double share);

}  // namespace orrery
