// The adaptive search of arXiv 2405.15362: the best V-shaped schedule under a memory limit.
//
// Every building block without collisions is repeated. Of those within the limit, the ones with the
// shortest makespans are reordered and improved, and the shortest is kept. The default limit is
// that of 1F1B, p microbatches on every device.
//
// Source: arXiv 2405.15362 (60 patterns of the first device, a step for every device, a smaller
// one from some device on); building_block.h, v_schedule.h.
#include <algorithm>
#include <cmath>

#include "schedule/published/published_schedules.h"
#include "schedule/v_schedule.h"

namespace orrery {
namespace {

Result<Pipeline> v_auto_order(const ScheduleRequest& request) {
  OrderProblem problem =
      order_problem(request.shape, snake_virtual_stage, times_or_unit(request), 0);
  double least = 0;
  for (std::size_t d = 0; d < problem.limit.size(); ++d) {
    const double microbatch = problem.one_microbatch(d);
    least = std::max(least, microbatch);
    problem.limit[d] = std::isinf(request.memory_limit) ? microbatch * request.shape.devices
                                                        : request.memory_limit;
  }
  if (request.memory_limit < least) {
    return bad_input("the memory limit " + memory_text(request.memory_limit) + " is below the " +
                     memory_text(least) + " of one microbatch");
  }
  return to_pipeline(problem, snake_virtual_stage, adapted(problem, kVScheduleEffort));
}

}  // namespace

const Schedule kVAuto = v_shaped(
    "v_auto", "the best V of two chunks under a memory limit (arXiv 2405.15362)", v_auto_order);

}  // namespace orrery
