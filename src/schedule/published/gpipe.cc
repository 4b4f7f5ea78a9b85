// GPipe (arXiv 1811.06965): all forwards, then all backwards in reverse order, then the flush.
//
//   bubble ratio (p-1)/(m+p-1) for equal stages; m microbatches in flight on every device.
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

Result<Pipeline> gpipe_order(const ScheduleRequest& request) {
  Pipeline out = placed(request.shape, 1, loop_virtual_stage);
  const auto m = static_cast<std::uint32_t>(request.shape.microbatches);
  for (auto& device : out.order) {
    device.reserve(2 * std::size_t{m});
    for (std::uint32_t j = 0; j < m; ++j) device.push_back({PipelineAction::forward, 0, j});
    for (std::uint32_t j = m; j-- > 0;) device.push_back({PipelineAction::backward, 0, j});
  }
  return out;
}

std::vector<int> peak_of_gpipe(const PipelineShape& shape, int) { return {shape.microbatches}; }

}  // namespace

const Schedule kGPipe{
    .name = "gpipe",
    .summary = "all forwards, then all backwards in reverse order (arXiv 1811.06965)",
    .chunks = 1,
    .virtual_stage = loop_virtual_stage,
    .pipeline = gpipe_order,
    .peak_in_flight = peak_of_gpipe};

}  // namespace orrery
