// 1F1B: device i of p runs w = min(p-1-i, m) forwards ahead, then one forward, one backward in
// turn, then the remaining w backwards.
//
//   bubble ratio (p-1)/(m+p-1) for equal stages; min(m, p-i) microbatches in flight on device i.
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

Result<Pipeline> order(const ScheduleRequest& request) {
  Pipeline out = placed(request.shape, 1, loop_virtual_stage);
  const int m = request.shape.microbatches;
  for (int device = 0; device < request.shape.devices; ++device) {
    auto& operations = out.order[static_cast<std::size_t>(device)];
    operations.reserve(2 * static_cast<std::size_t>(m));
    const int ahead = std::min(request.shape.devices - 1 - device, m);
    int f = 0;
    int b = 0;
    const auto forward = [&] {
      operations.push_back({PipelineAction::forward, 0, static_cast<std::uint32_t>(f++)});
    };
    const auto backward = [&] {
      operations.push_back({PipelineAction::backward, 0, static_cast<std::uint32_t>(b++)});
    };
    while (f < ahead) forward();
    while (f < m) {
      forward();
      backward();
    }
    while (b < m) backward();
  }
  return out;
}

std::vector<int> peak_in_flight(const PipelineShape& shape, int device) {
  return {std::min(shape.microbatches, shape.devices - device)};
}

}  // namespace

const Schedule kOneForwardOneBackward{
    .name = "1f1b",
    .summary = "a few forwards ahead, then one forward, one backward in turn (arXiv 2007.01045)",
    .chunks = 1,
    .virtual_stage = loop_virtual_stage,
    .pipeline = order,
    .peak_in_flight = peak_in_flight};

}  // namespace orrery
