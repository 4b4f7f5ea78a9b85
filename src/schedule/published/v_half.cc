// V-Half: two chunks per device in a V, in about half of 1F1B's memory.
//
//   floor((p + 2) / 2) microbatches in flight; with F = B = W about p / (2 m) of the time idle. Its
//   steady state has no waits if W + 2 B >= 2 F and W + 2 F >= 2 B.
//
// Source: arXiv 2405.15362; building_block.h, v_schedule.h.
#include "schedule/published/published_schedules.h"
#include "schedule/v_schedule.h"

namespace orrery {
namespace {

Result<Pipeline> order(const ScheduleRequest& request) {
  return block_pipeline("v_half", request, v_half_block(request.shape.devices), Reorder::yes);
}

Result<Pipeline> stable_order(const ScheduleRequest& request) {
  return block_pipeline("v_half_stable", request, v_half_block(request.shape.devices), Reorder::no);
}

}  // namespace

const Schedule kVHalf{.name = "v_half",
                      .summary = "a V of two chunks in half of 1F1B's memory (arXiv 2405.15362)",
                      .chunks = 2,
                      .splits_backward = true,
                      .made_for_times = true,
                      .virtual_stage = snake_virtual_stage,
                      .pipeline = order};

const Schedule kVHalfStable{
    .name = "v_half_stable",
    .summary = "V-Half as its building block repeats, not reordered (arXiv 2405.15362)",
    .chunks = 2,
    .splits_backward = true,
    .virtual_stage = snake_virtual_stage,
    .pipeline = stable_order};

}  // namespace orrery
