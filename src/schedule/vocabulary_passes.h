// Adds the passes of vocabulary parallelism to the order of a pipeline.
//
// Both vocabulary layers are split over all devices. For microbatch j every device runs
//   I  its part of the embedding (and an all-reduce), one microbatch ahead of the first stage;
//   S  its part of the logits, from the output of the last stage, which is broadcast;
//   T  its part of their gradient;
//   G  its part of the embedding's gradient, after the first stage's backward.
// Algorithm 1 has two barriers between the last stage's forward and backward: after S (maxima and
// sums) and after T (the gradient of the output). Algorithm 2 prepares the gradient in S, so that
// one barrier after S is enough and T may come later.
//
// They are inserted where the order, timed without them, allows: all devices run S of j between the
// first two operations after the last stage's forward of j, together with T of j-1; I of j when the
// first stage begins j-1; and G when the first stage has ended the backward of j+1 (no other
// operation waits for G). At each barrier a microbatch waits for one turn, so the original order
// should have one more microbatch in flight for each barrier.
//
// Source: arXiv 2411.05288. O(operations).
#pragma once

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// `barriers`: 2 for algorithm 1, 1 for algorithm 2. Error: the order deadlocks.
Result<Pipeline> with_vocabulary_passes(Pipeline pipeline, PipelineTimes times, int barriers);

}  // namespace orrery
