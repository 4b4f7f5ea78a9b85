// V-Min: two chunks per device in a V, in about a third of 1F1B's memory.
//
//   floor((p + 4) / 3) microbatches in flight; with F = B = W about 2 p / (3 m) of the time idle.
//   With passes of unequal length, devices wait, because the block has no slack.
//
// Source: arXiv 2405.15362; building_block.h, v_schedule.h.
#include "schedule/published/published_schedules.h"
#include "schedule/v_schedule.h"

namespace orrery {
namespace {

Result<Pipeline> order(const ScheduleRequest& request) {
  return block_pipeline("v_min", request, v_min_block(request.shape.devices), Reorder::yes);
}

Result<Pipeline> stable_order(const ScheduleRequest& request) {
  return block_pipeline("v_min_stable", request, v_min_block(request.shape.devices), Reorder::no);
}

}  // namespace

const Schedule kVMin{.name = "v_min",
                     .summary = "a V of two chunks in a third of 1F1B's memory (arXiv 2405.15362)",
                     .chunks = 2,
                     .splits_backward = true,
                     .made_for_times = true,
                     .virtual_stage = snake_virtual_stage,
                     .pipeline = order};

const Schedule kVMinStable{
    .name = "v_min_stable",
    .summary = "V-Min as its building block repeats, not reordered (arXiv 2405.15362)",
    .chunks = 2,
    .splits_backward = true,
    .virtual_stage = snake_virtual_stage,
    .pipeline = stable_order};

}  // namespace orrery
