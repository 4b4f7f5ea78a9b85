// V-ZB: two chunks per device in a V, no bubble in 1F1B's memory.
//
//   p microbatches in flight; no device waits once it has begun if F = B = W. F of chunk 0 and B of
//   chunk 1 advance by five slots per device, F of chunk 1 and B of chunk 0 by one in the opposite
//   direction: the two lifespans of a device add up to 12 p slots, 2 p chunks at a period of six.
//
// Of the first-device slots that make such a block, those with the least memory are used, among
// equals those with the shortest makespan. Source: arXiv 2405.15362; building_block.h,
// v_schedule.h.
#include "schedule/published/published_schedules.h"
#include "schedule/v_schedule.h"

namespace orrery {
namespace {

Result<Pipeline> order(const ScheduleRequest& request) {
  constexpr int kStep = 5;
  return block_pipeline("v_zb", request, least_memory_block(request.shape, kStep), Reorder::yes);
}

}  // namespace

const Schedule kVZb{.name = "v_zb",
                    .summary = "a V of two chunks, no bubble in 1F1B's memory (arXiv 2405.15362)",
                    .chunks = 2,
                    .splits_backward = true,
                    .made_for_times = true,
                    .virtual_stage = snake_virtual_stage,
                    .pipeline = order};

}  // namespace orrery
