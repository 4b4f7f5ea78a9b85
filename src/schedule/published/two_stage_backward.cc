// 2BP: the backward in two stages, the second (the weight gradient) postponed.
//
//   The forwards and input gradients have the order of GPipe or of 1F1B. A weight gradient runs
//   while the device would wait, if it ends before the wait does; the rest run at the end of the
//   step, in the order of their input gradients. Memory is not limited: up to m microbatches.
//
//   With F = B = W, each of p devices idles 2(p-1) units with GPipe, a bubble ratio of
//   2(p-1)/(2(p-1) + 3m), and p-1 units with 1F1B, (p-1)/(p-1 + 3m).
//
// Source: arXiv 2405.18047 (backward-p1 and -p2). Not modelled: the postponed weight gradients of a
// stage as one larger multiplication; the output gradients kept for them in addition to
// activations.
#include "schedule/gap_filling.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

template <const Schedule& schedule>
Result<Pipeline> two_stage_order(const ScheduleRequest& request) {
  ORRERY_TRY(Pipeline out, schedule.pipeline(request));
  for (auto& device : out.order) {
    for (PipelineOperation& op : device) {
      if (op.action == PipelineAction::backward) op.action = PipelineAction::input_gradient;
    }
  }
  ORRERY_TRY(FilledPipeline filled,
             with_weight_gradients(std::move(out), times_or_unit(request), Gaps::whole));
  return std::move(filled.pipeline);
}

}  // namespace

const Schedule k2BpGPipe{.name = "2bp_gpipe",
                         .summary = "GPipe with the weight gradients postponed (arXiv 2405.18047)",
                         .chunks = 1,
                         .splits_backward = true,
                         .made_for_times = true,
                         .virtual_stage = loop_virtual_stage,
                         .pipeline = two_stage_order<kGPipe>};

const Schedule k2Bp1F1B{.name = "2bp_1f1b",
                        .summary = "1F1B with the weight gradients postponed (arXiv 2405.18047)",
                        .chunks = 1,
                        .splits_backward = true,
                        .made_for_times = true,
                        .virtual_stage = loop_virtual_stage,
                        .pipeline = two_stage_order<kOneForwardOneBackward>};

}  // namespace orrery
