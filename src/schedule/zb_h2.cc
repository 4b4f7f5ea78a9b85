// ZB-H2: twice the forwards ahead of ZB-H1, so that no device waits once it has begun.
//
//   longest device span m (F + B + W) + (p - 1) max(0, F + B - 2 W), + 2 (p - 1) c with a latency
//   c; 2 p - 1 microbatches between F and W on every device
//
// Source: arXiv 2401.10241; the order is that of unit times.
#include "schedule/zb_h2.h"

#include "schedule/placement.h"
#include "schedule/zb_h1.h"

namespace orrery {
namespace {

std::vector<std::string> problems(const ScheduleRequest&) { return {}; }

Result<Pipeline> order(const ScheduleRequest& request) {
  return handcrafted_order(
      request.shape, {[](int p, int i) { return 2 * (p - i) - 1; }, 2 * request.shape.devices - 1});
}

}  // namespace

const Schedule kZbH2{
    .name = "zb_h2",
    .summary = "as ZB-H1 with twice the microbatches in flight and no bubble (arXiv 2401.10241)",
    .chunks = 1,
    .splits_backward = true,
    .problems = problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = order};

}  // namespace orrery
