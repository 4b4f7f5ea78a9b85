// Sends activations to host memory between a forward and its backward, and fetches them in time.
//
// The order is timed as given. A round trip r is an offload and a reload of a microbatch and chunk.
//   Which: the chunks of a device that are held longest first, as many as `share` of all its chunks
//   and as the link can carry: sum of r over them <= F + B + W of all its chunks, for one
//   microbatch (k <= 1 in the words of the paper). A part of a chunk is every so many microbatches.
//   Of these, only activations that lie idle for more than three round trips.
//   When: offloads one after another, r apart, from the end of their forward; reloads from the last
//   backward to the first, r apart, each to arrive the time of one backward before it is needed. A
//   pair whose reload would begin before its offload ends is not offloaded.
// In the order of its device, a copy comes before the operation that is running when it begins.
//
// Source: arXiv 2503.01328 (selective offload by lifespan, k). Not modelled: two devices that share
// a link to the host; forwards of the warm-up postponed to their consumers.
#pragma once

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// `share` in 0..1 of what every device holds. Error: the order deadlocks. O(n log n).
Result<Pipeline> with_offloading(Pipeline pipeline, const PipelineTimes& times, double share);

}  // namespace orrery
