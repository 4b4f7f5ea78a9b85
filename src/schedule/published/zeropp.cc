// ZeroPP: breadth-first within units of U microbatches, backward split, weight gradients in the
// gaps.
//
//   unit by unit on every device: for chunk 0..v-1 the forwards of U microbatches, then for chunk
//   v-1..0 their input gradients; while the device waits for the next of these, it runs the oldest
//   pending weight gradient; the remaining ones run at the end. A weight gradient begins in every
//   wait, or only if it ends before the wait does; the shorter order is taken, among equals the one
//   with less memory. U is the group, by default 2p-1 (m if that is less). The last unit may be
//   smaller.
//
//   With U >= 2p-1 and equal times a device idles (p-1)(f+b) per step, where f and b are of a
//   chunk: units follow each other without a gap. Pending weight gradients can take the memory of
//   more than U microbatches; they run before the forwards that would exceed a memory limit.
//
// Source: arXiv 2402.03791 (scheduling units, blockwise task-interleaved pipeline), which does not
// state the exact place of a weight gradient. Not modelled here: the gathers of sharded weights,
// one per chunk and unit.
#include <algorithm>

#include "schedule/gap_filling.h"
#include "schedule/in_flight.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

Result<Pipeline> zeropp_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  const int m = shape.microbatches;
  const int unit = request.group > 0 ? request.group : std::min(2 * shape.devices - 1, m);
  Pipeline out = placed(shape, 1, loop_virtual_stage);
  auto& first = out.order[0];
  first.reserve(2 * static_cast<std::size_t>(m) * static_cast<std::size_t>(shape.chunks));
  const auto pass = [&](PipelineAction action, int chunk, int from) {
    for (int j = from; j < std::min(from + unit, m); ++j) {
      first.push_back({action, static_cast<std::uint16_t>(chunk), static_cast<std::uint32_t>(j)});
    }
  };
  for (int from = 0; from < m; from += unit) {
    for (int c = 0; c < shape.chunks; ++c) pass(PipelineAction::forward, c, from);
    for (int c = shape.chunks; c-- > 0;) pass(PipelineAction::input_gradient, c, from);
  }
  for (std::size_t d = 1; d < out.order.size(); ++d) out.order[d] = first;
  const PipelineTimes times = times_or_unit(request);
  ORRERY_TRY(FilledPipeline any,
             with_weight_gradients(out, times, Gaps::any, request.memory_limit));
  ORRERY_TRY(FilledPipeline whole,
             with_weight_gradients(std::move(out), times, Gaps::whole, request.memory_limit));
  if (any.makespan != whole.makespan) {
    return std::move((any.makespan < whole.makespan ? any : whole).pipeline);
  }
  const bool any_holds_less =
      fullest_device(any.pipeline, times) <= fullest_device(whole.pipeline, times);
  return std::move((any_holds_less ? any : whole).pipeline);
}

}  // namespace

const Schedule kZeroPp{
    .name = "zeropp",
    .summary = "breadth-first in units, weight gradients in the gaps (arXiv 2402.03791)",
    .splits_backward = true,
    .made_for_times = true,
    .virtual_stage = loop_virtual_stage,
    .pipeline = zeropp_order};

}  // namespace orrery
