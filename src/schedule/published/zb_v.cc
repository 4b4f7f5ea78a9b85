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

OrderProblem limited_problem(const ScheduleRequest& request) {
  OrderProblem out = order_problem(request.shape, snake_virtual_stage, times_or_unit(request), 0);
  for (int i = 0; i < request.shape.devices; ++i) {
    double microbatch = 0;
    for (int c = 0; c < 2; ++c) {
      microbatch += out.held[static_cast<std::size_t>(out.stage_of(i, c))];
    }
    out.limit[static_cast<std::size_t>(i)] =
        std::min(request.memory_limit, microbatch * request.shape.devices);
  }
  return out;
}

Result<Pipeline> order(const ScheduleRequest& request) {
  const OrderProblem problem = limited_problem(request);
  PassOrders orders = zb_v_orders(problem);
  if (orders.empty()) {
    // The counts of the heuristic are those of equal stages; others follow the block of V-ZB.
    constexpr int kStep = 5;
    orders = reordered(problem, least_memory_block(request.shape, kStep), 0);
  }
  if (orders.empty()) {
    return fail(ErrorCode::bad_input, "zb_v finds no order within a memory limit of " +
                                          memory_text(request.memory_limit) +
                                          "; v_auto takes any that holds one microbatch");
  }
  return to_pipeline(problem, snake_virtual_stage, orders);
}

}  // namespace

const Schedule kZbV{
    .name = "zb_v",
    .summary = "two chunks in a V, no bubble in the memory of 1F1B (arXiv 2401.10241)",
    .chunks = 2,
    .splits_backward = true,
    .made_for_times = true,
    .virtual_stage = snake_virtual_stage,
    .pipeline = order};

}  // namespace orrery
