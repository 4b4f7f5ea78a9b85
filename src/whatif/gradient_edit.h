// Gradient reductions for a run that has none: from one data-parallel rank to N.
//
//   dp N [gradients SIZE] [link RATE] [latency TIME]
//
// Gradients of a layer are ready when its backward pass in the step's last microbatch is; they are
// collected, last layer first, until a bucket is full (25 MiB, the default of PyTorch's
// DistributedDataParallel), and reduced bucket after bucket on a stream of their own, beside what
// computes. What runs after the passes (the optimizer) waits for the last. Of n bytes over N ranks:
//
//   t = 2 (N - 1) / N n / rate + latency     where a link is said, else
//   t = collective(all_reduce, n)            of cost/collective, on the recorded accelerator's
//                                            usual cluster, ranks of the group as far apart as
//                                            the run has ranks
//
// n: elements of the weights that matrix products multiply with and of embedding tables, from the
// recorded shapes, in the format of the products; or what is said, in equal parts for all layers.
//
// Source: Lumos, arXiv 2504.09307, section 3.5; Li et al. 2020, "PyTorch Distributed", section
// 3.2.3. Not modelled: gradients of norms and biases, copies into buckets, sharded optimizers.
#pragma once

#include "catalog/catalog.h"
#include "outcome/result.h"
#include "whatif/edited_run.h"
#include "whatif/known_division.h"
#include "whatif/whatif.h"

namespace orrery {

// Whether the run reduces no gradients: it is known to have one data-parallel rank, it does not
// communicate, or only within groups whose descriptions name another axis; where the edit says how
// large gradients are, within groups whose descriptions do not name the axis of data.
bool lacks_data_parallel_groups(const EditedRun& run, const Edit& edit, const KnownDivision& known);

Result<void> apply_gradient_reductions(EditedRun& run, AppliedEdit& edit, const Catalog& catalog);

}  // namespace orrery
