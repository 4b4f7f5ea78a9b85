// ZB-1p and ZB-2p: orders of F, B and W for given times, found by the automatic scheduler.
//
//   ZB-1p may hold p microbatches on every device, the memory of 1F1B's fullest; ZB-2p twice that.
//
// Source: arXiv 2401.10241. zb_automatic_orders.h has the scheduler.
#include <algorithm>

#include "schedule/published/published_schedules.h"
#include "schedule/zb_automatic_orders.h"

namespace orrery {
namespace {

Result<Pipeline> made(const ScheduleRequest& request, int times_p) {
  OrderProblem problem =
      order_problem(request.shape, loop_virtual_stage, times_or_unit(request), 0);
  for (std::size_t d = 0; d < problem.limit.size(); ++d) {
    problem.limit[d] =
        std::min(request.memory_limit, times_p * request.shape.devices * problem.held[d]);
  }
  const PassOrders orders = zb_automatic_orders(problem);
  if (orders.empty()) {
    return bad_input("the memory limit " + memory_text(request.memory_limit) + " is below the " +
                     memory_text(*std::ranges::max_element(problem.held)) + " of one microbatch");
  }
  return to_pipeline(problem, loop_virtual_stage, orders);
}

}  // namespace

const Schedule kZb1p{
    .name = "zb_1p",
    .summary = "orders of F, B and W for the times, in 1F1B's memory (arXiv 2401.10241)",
    .chunks = 1,
    .splits_backward = true,
    .made_for_times = true,
    .virtual_stage = loop_virtual_stage,
    .pipeline = [](const ScheduleRequest& request) { return made(request, 1); }};

const Schedule kZb2p{
    .name = "zb_2p",
    .summary = "orders of F, B and W for the times, in twice 1F1B's memory (arXiv 2401.10241)",
    .chunks = 1,
    .splits_backward = true,
    .made_for_times = true,
    .virtual_stage = loop_virtual_stage,
    .pipeline = [](const ScheduleRequest& request) { return made(request, 2); }};

}  // namespace orrery
