// GPipe (arXiv 1811.06965): all forwards, then all backwards in reverse order, then the flush.
//
//   bubble ratio (p-1)/(m+p-1) for equal stages; m microbatches in flight on every device.
#include "schedule/gpipe.h"

#include "schedule/loop_placement.h"

namespace orrery {
namespace {

std::vector<std::string> problems(const PipelineShape& shape) {
  if (shape.chunks == 1) return {};
  return {"gpipe holds one chunk a device, not " + std::to_string(shape.chunks) +
          "; interleaved_1f1b holds several"};
}

std::vector<PipelineOperation> order(const PipelineShape& shape, int) {
  std::vector<PipelineOperation> out;
  const auto m = static_cast<std::uint32_t>(shape.microbatches);
  out.reserve(2 * std::size_t{m});
  for (std::uint32_t j = 0; j < m; ++j) out.push_back({PipelineAction::forward, 0, j});
  for (std::uint32_t j = m; j-- > 0;) out.push_back({PipelineAction::backward, 0, j});
  return out;
}

std::vector<int> peak_in_flight(const PipelineShape& shape, int) { return {shape.microbatches}; }

}  // namespace

const Schedule kGPipe{"gpipe", problems, order, loop_virtual_stage, peak_in_flight};

}  // namespace orrery
