// Edits that ask the cost model how long kernels would take.
//
//   resize A to B   every dimension A of a tensor becomes B, and those that change with it, as far
//                   as they are known (whatif/known_division.h; else multiples of A, in
//                   proportion): hidden size, feed-forward size, sequence, micro-batch
//   accelerator X   the same kernels, or those selected, on another accelerator
//   price WHERE     matrix products take what the model says, on the recorded accelerator
//
// The first two scale the recorded time with a ratio of two predictions, so that what the model
// gets wrong of this kernel cancels:
//
//   t' = t * cost(new) / cost(recorded)
//
//   matrix products      cost/kernel: tiles, waves, roofline, with the shapes of their inputs;
//                        without shapes, the peak rates of their format
//   attention,           resized: elements of the inputs, of attention squared along the sequence
//   convolution          as far as it is the resized dimension; other accelerator: peak rates
//   all other kernels    bytes: elements of the inputs; other accelerator: bandwidth of memory
//   communications       resized: in proportion, as far as their volume is a multiple of A
//   copies               resized: as all other kernels; other accelerator: unchanged
//
// Resizing without a known accelerator uses FLOPs alone. Times of the host stay.
#pragma once

#include "catalog/catalog.h"
#include "outcome/result.h"
#include "whatif/edited_run.h"
#include "whatif/known_division.h"
#include "whatif/whatif.h"

namespace orrery {

Result<std::monostate> apply_resize(EditedRun& run, AppliedEdit& edit, const Catalog& catalog,
                                    const KnownDivision& known);
Result<std::monostate> apply_accelerator(EditedRun& run, AppliedEdit& edit, const Catalog& catalog);
Result<std::monostate> apply_price(EditedRun& run, AppliedEdit& edit, const Catalog& catalog);

}  // namespace orrery
