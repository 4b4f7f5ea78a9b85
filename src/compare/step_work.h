// Maps recorded operators and predicted categories to the same kinds of work, and adds up profiles
// by them, so that a recorded step can be compared with a prediction, which knows neither operators
// of a framework nor kernels. Each side adds up to its step. O(lines).
//
//  kind                     recorded                              predicted (lower/step_category.h)
//  matrix products          kernels by trace/kernel_class.h       projections, feed-forward,
//                                                                 experts, logits
//  attention                fused, or else its batched products   attention
//                           and softmaxes
//  normalization                                                  normalization
//  embedding                                                      embedding
//  optimizer                                                      optimizer
//  elementwise and others   all other kernels                     elementwise, router, loss
//  convolutions             kernels that convolve                 (none)
//  recomputation            (among the kinds)                     recomputation
//   contention               (in every kernel's time)              contention
//   communication, exposed   alone on the device, not waiting      of all axes
//   waiting for other ranks  of communication, exposed             (none)
//   copies, exposed          alone on the device                   (none)
//   launched before the      of a recording that begins in the     (none)
//   recording                midst of work
//   idle                     host late, launches, end of the step  bubble, host
//
// The kernel that takes most of a line's time determines its kind. Where attention is fused, a
// batched product belongs to experts or to an interaction, and a softmax to a router or to the
// loss.
#pragma once

#include <cstdint>
#include <span>

#include "compare/step_profile.h"
#include "lower/step_category.h"
#include "outcome/enum_names.h"
#include "trace/recorded_trace.h"

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
  idle
};
inline constexpr std::size_t kStepWorks = 14;
// "matrix products": unlike the names of operators.
EnumNames<StepWork> names_of(StepWork);

// How a recording computes the scores of its attention.
enum class AttentionScores : std::uint8_t { in_kernels_of_attention, in_batched_products };
// Unfused if there are batched products and softmaxes but no attention kernel.
AttentionScores attention_scores(const StepProfile& recorded);

// Of the time that a line owns, with waiting separate.
StepWork work_of(const ProfileLine& line, AttentionScores scores);
StepWork work_of(Category category);

// Whether no launch of the line's work is recorded: it is named after its kernel. At the start of a
// recording such work may have been launched before the recording began: a device that is behind
// its host still runs the pass before, and a prediction of the recorded steps does not contain it.
bool has_no_launch(const ProfileLine& line);

// Whether that is so of the unlaunched work of every rank (trace/launch_links.h). Linear.
bool unlaunched_is_earlier(std::span<const RecordedTrace> run);

// How to treat work without a recorded launch.
enum class Unlaunched : std::uint8_t { of_its_kind, earlier };

// The same step, its lines added up by kind.
StepProfile profile_by_work(const StepProfile& recorded,
                            Unlaunched unlaunched = Unlaunched::of_its_kind);

// A predicted step as the same lines.
StepProfile predicted_profile(const Breakdown& predicted);

// Normalization and embedding that only one side distinguishes are counted with the other kinds on
// both sides, because eager norms are chains of elementwise kernels.
void fold_untold_work(StepProfile& recorded, StepProfile& predicted);

}  // namespace orrery
