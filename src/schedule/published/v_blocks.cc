// V-Min, V-Half and V-ZB: two chunks per device in a V, as a building block repeats. The `stable`
// ones are not reordered.
//
//   V-Min   about a third of 1F1B's memory: floor((p + 4) / 3) microbatches in flight; with
//           F = B = W about 2 p / (3 m) of the time idle. With passes of unequal length, devices
//           wait, because the block has no slack.
//   V-Half  about half of 1F1B's memory: floor((p + 2) / 2) microbatches in flight; with F = B = W
//           about p / (2 m) of the time idle. Its steady state has no waits if W + 2 B >= 2 F and
//           W + 2 F >= 2 B.
//   V-ZB    1F1B's memory: p microbatches in flight; no device waits once it has begun if
//           F = B = W.
//           F of chunk 0 and B of chunk 1 advance by five slots per device, F of chunk 1 and B of
//           chunk 0 by one in the opposite direction: the two lifespans of a device add up to 12 p
//           slots, 2 p chunks at a period of six. Of the first-device slots that make such a block,
//           those with the least memory are used, among equals those with the shortest makespan.
//
// Source: arXiv 2405.15362; building_block.h, v_schedule.h.
#include "schedule/published/published_schedules.h"
#include "schedule/v_schedule.h"

namespace orrery {
namespace {

// Without a search for better orders nothing depends on the times.
constexpr Schedule stable(Schedule schedule) {
  schedule.made_for_times = false;
  return schedule;
}

}  // namespace

const Schedule kVMin = v_shaped(
    "v_min", "a V of two chunks in a third of 1F1B's memory (arXiv 2405.15362)",
    [](const ScheduleRequest& request) {
      return block_pipeline("v_min", request, v_min_block(request.shape.devices), Reorder::yes);
    });

const Schedule kVMinStable = stable(v_shaped(
    "v_min_stable", "V-Min as its building block repeats, not reordered (arXiv 2405.15362)",
    [](const ScheduleRequest& request) {
      return block_pipeline("v_min_stable", request, v_min_block(request.shape.devices),
                            Reorder::no);
    }));

const Schedule kVHalf = v_shaped(
    "v_half", "a V of two chunks in half of 1F1B's memory (arXiv 2405.15362)",
    [](const ScheduleRequest& request) {
      return block_pipeline("v_half", request, v_half_block(request.shape.devices), Reorder::yes);
    });

const Schedule kVHalfStable = stable(v_shaped(
    "v_half_stable", "V-Half as its building block repeats, not reordered (arXiv 2405.15362)",
    [](const ScheduleRequest& request) {
      return block_pipeline("v_half_stable", request, v_half_block(request.shape.devices),
                            Reorder::no);
    }));

const Schedule kVZb = v_shaped(
    "v_zb", "a V of two chunks, no bubble in 1F1B's memory (arXiv 2405.15362)",
    [](const ScheduleRequest& request) {
      return block_pipeline("v_zb", request, least_memory_block(request.shape, kZeroBubbleStep),
                            Reorder::yes);
    });

}  // namespace orrery
