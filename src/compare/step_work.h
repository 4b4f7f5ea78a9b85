// Which kind of work of a step a recorded operator is and a category of a prediction, so that the
// two can stand beside each other: a prediction knows neither operators of a framework nor kernels.
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
//   convolutions             kernels that convolve                 (none)
//   recomputation            (among the kinds)                     recomputation
//   contention               (in every kernel's time)              contention
//   communication, exposed   alone on the device, not waiting      of all axes
//   waiting for other ranks  of communication, exposed             (none)
//   copies, exposed          alone on the device                   (none)
//   launched before the      of a recording that begins in the     (none)
//   recording                midst of work
//   idle                     host late, launches, end of the step  bubble, host
//
// The kernel that takes most of a line tells its kind. Beside fused attention a batched product is
// one of experts or of an interaction, and a softmax one of a router or of the loss.
#pragma once

#include <cstdint>
#include <string_view>

#include "compare/step_profile.h"
#include "graph/category.h"

namespace orrery {

enum class StepWork : std::uint8_t {
  products,
  attention,
  normalization,
  embedding,
  optimizer,
  others,
  convolutions,
  recomputation,
  contention,
  communication,
  waiting,
  copies,
  earlier,
  idle,
};
inline constexpr std::size_t kStepWorks = 14;
// "matrix products": unlike the names of operators.
std::string_view name(StepWork work);

// How a recording computes the scores of its attention.
enum class AttentionScores : std::uint8_t { in_kernels_of_attention, in_batched_products };
// The latter where batched products and softmaxes are there and no kernel of attention is.
AttentionScores attention_scores(const StepProfile& recorded);

// Of what a line owns, waiting apart.
StepWork work_of(const ProfileLine& line, AttentionScores scores);
StepWork work_of(Category category);

}  // namespace orrery
