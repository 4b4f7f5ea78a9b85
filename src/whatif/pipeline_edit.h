// Another pipeline: the layers and microbatches of a recorded training run on N stages.
//
//   pp N [schedule NAME] [chunks V] [microbatches M] [send SIZE] [link RATE] [latency TIME]
//
// The parts of the recording (whatif/training_passes.h) are dealt to stages: layer l of L to
// virtual stage floor(l N V / L), what precedes the layers to the first, what follows them to the
// last. The schedule (schedule/schedule.h, 1f1b where none is said) says which stage does what in
// which order; every part keeps its launches, kernels, communications and what they wait for, on
// threads and streams that every stage has for itself. What runs between steps (optimizer,
// reductions) runs on every stage, its device work taking the stage's share of the layers. Where a
// pass changes its stage, a transfer is inserted that the first kernel on the other side waits for:
//
//   t = latency + n / rate                        where both are said, else
//   t = point_to_point(n)                         of cost/collective, on the recorded accelerator's
//                                                 usual cluster, stages as far apart as the run has
//                                                 ranks
//
// on a link of its own for every pair of stages and direction. n: the tensor between layers on one
// rank, from the recorded shapes: what an embedding looks up, else the largest input of a layer's
// first operator. Source: Lumos, arXiv 2504.09307, section 3.5.
//
// M other than recorded: the recorded microbatches are repeated in turn, the last one last; each
// keeps its size, so that the global batch changes with it. Recorded without accumulation, only the
// last backward pass reduces gradients.
//
// Not modelled: schedules that part the backward pass in two, that run two passes as one, or that
// divide the vocabulary; memory; the host's time to launch sends. Refused: runs that are pipelines
// already. O(nodes x stages) between the passes, O(nodes) within.
#pragma once

#include "catalog/catalog.h"
#include "outcome/result.h"
#include "whatif/edited_run.h"
#include "whatif/whatif.h"

namespace orrery {

Result<std::monostate> apply_pipeline(EditedRun& run, AppliedEdit& edit, const Catalog& catalog);

}  // namespace orrery
