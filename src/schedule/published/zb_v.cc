// ZB-V: two chunks per device in a V, so that a microbatch turns at the last device and returns to
// the first; zero bubble in the memory of 1F1B's fullest device, equal on all devices.
//
//   longest device span m (F + B + W) if F = B = W; p microbatches (2 p chunks of them) in flight
//
// Source: arXiv 2401.10241. zb_v_orders.h has the heuristic that finds the order.
#include <algorithm>

#include "schedule/published/published_schedules.h"
#include "schedule/v_schedule.h"
#include "schedule/zb_v_orders.h"

namespace orrery {
namespace {

Result<Pipeline> zb_v_order(const ScheduleRequest& request) {
  OrderProblem problem =
      order_problem(request.shape, snake_virtual_stage, times_or_unit(request), 0);
  for (std::size_t d = 0; d < problem.limit.size(); ++d) {
    problem.limit[d] =
        std::min(request.memory_limit, problem.one_microbatch(d) * request.shape.devices);
  }
  PassOrders orders = zb_v_orders(problem);
  if (orders.empty()) {
    // The counts of the heuristic are those of equal stages; others follow the block of V-ZB.
    orders = reordered(problem, least_memory_block(request.shape, kZeroBubbleStep), 0);
  }
  if (orders.empty()) {
    return bad_input("zb_v finds no order within a memory limit of " +
                     memory_text(request.memory_limit) +
                     "; v_auto takes any that holds one microbatch");
  }
  return to_pipeline(problem, snake_virtual_stage, orders);
}

}  // namespace

const Schedule kZbV = v_shaped(
    "zb_v", "two chunks in a V, no bubble in the memory of 1F1B (arXiv 2401.10241)", zb_v_order);

}  // namespace orrery
