// 1F1B: device i of p runs w = min(p-1-i, m) forwards ahead, then one forward, one backward in
// turn, then the remaining w backwards.
//
//   bubble ratio (p-1)/(m+p-1) for equal stages; min(m, p-i) microbatches in flight on device i.
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
Pipeline in_turn(const PipelineShape& shape, const std::function<int(int device)>& forwards_ahead) {
  Pipeline out = placed(shape, 1, loop_virtual_stage);
  const auto m = static_cast<std::uint32_t>(shape.microbatches);
  for (std::size_t d = 0; d < out.order.size(); ++d) {
    const auto ahead = std::min(m, static_cast<std::uint32_t>(forwards_ahead(static_cast<int>(d))));
    auto& device = out.order[d];
    device.reserve(2 * std::size_t{m});
    for (std::uint32_t f = 0; f < ahead; ++f) device.push_back({PipelineAction::forward, 0, f});
    for (std::uint32_t b = 0; b < m; ++b) {
      if (ahead + b < m) device.push_back({PipelineAction::forward, 0, ahead + b});
      device.push_back({PipelineAction::backward, 0, b});
    }
  }
  return out;
}

namespace {

Result<Pipeline> one_forward_one_backward_order(const ScheduleRequest& request) {
  return in_turn(request.shape, [&](int device) { return request.shape.devices - 1 - device; });
}

std::vector<int> peak_of_one_forward_one_backward(const PipelineShape& shape, int device) {
  return {std::min(shape.microbatches, shape.devices - device)};
}

}  // namespace

const Schedule kOneForwardOneBackward{
    .name = "1f1b",
    .summary = "a few forwards ahead, then one forward, one backward in turn (arXiv 2007.01045)",
    .chunks = 1,
    .virtual_stage = loop_virtual_stage,
    .pipeline = one_forward_one_backward_order,
    .peak_in_flight = peak_of_one_forward_one_backward};

}  // namespace orrery
