// Profiles by kind of work, in which a recorded step and a predicted one can be compared: a
// prediction knows neither operators of a framework nor kernels.
//
//   kind                     recorded                              predicted (graph/category.h)
//   matrix products          kernels by trace/kernel_class.h       projections, feed-forward,
//                                                                  experts, logits
//   attention                fused, or else its batched products   attention
//                            and softmaxes
//   normalization                                                  normalization
//   embedding                                                      embedding
//   optimizer                                                      optimizer
//   elementwise and others   all other kernels                     elementwise, router, loss
//   recomputation            (among the kinds)                     recomputation
//   contention               (in every kernel's time)              contention
//   communication, exposed   alone on the device, not waiting      of all axes
//   waiting for other ranks  of communication, exposed             (none)
//   copies, exposed          alone on the device                   (none)
//   launched before the      of a recording that begins in the     (none)
//   recording                midst of work
//   idle                     host late, launches, end of the step  bubble, host
//
// Each side adds up to its step. O(lines).
#pragma once

#include "compare/step_profile.h"
#include "timeline/breakdown.h"

namespace orrery {

// What work without a recorded launch is (compare/earlier_work.h).
enum class Unlaunched : std::uint8_t { of_its_kind, earlier };

// The same step, its lines added up by kind.
StepProfile profile_by_work(const StepProfile& recorded,
                            Unlaunched unlaunched = Unlaunched::of_its_kind);

// A predicted step as the same lines.
StepProfile predicted_profile(const Breakdown& predicted);

// Normalization and embedding that only one side tells apart are counted with the others on both:
// eager norms are chains of elementwise kernels.
void fold_untold_work(StepProfile& recorded, StepProfile& predicted);

}  // namespace orrery
