// Profiles by kind of work, in which a recorded step and a predicted one can be compared: a
// prediction knows neither operators of a framework nor kernels.
//
//   kind                     recorded                              predicted (graph/category.h)
//   matrix products          kernels by trace/kernel_class.h       projections, feed-forward,
//                                                                  experts, logits
//   attention                                                      attention
//   normalization                                                  normalization
//   embedding                                                      embedding
//   optimizer                                                      optimizer
//   elementwise and others   all other kernels                     elementwise, router, loss
//   recomputation            (among the kinds)                     recomputation
//   contention               (in every kernel's time)              contention
//   communication, exposed   alone on the device, not waiting      of all axes
//   waiting for other ranks  of communication, exposed             (none)
//   copies, exposed          alone on the device                   (none)
//   idle                     host late, launches, end of the step  bubble, host
//
// Each side adds up to its step. O(lines).
#pragma once

#include "compare/step_profile.h"
#include "timeline/breakdown.h"

namespace orrery {

// The same step, its lines added up by kind.
StepProfile profile_by_work(const StepProfile& recorded);

// A predicted step as the same lines.
StepProfile predicted_profile(const Breakdown& predicted);

// The forward passes of a prediction: `forward` in all, in proportion of what the whole step
// computes and sends within layers.
Breakdown forward_part(const Breakdown& predicted, Picoseconds forward);

}  // namespace orrery
