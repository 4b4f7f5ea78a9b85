// 1F1B: device i of p runs w = min(p-1-i, m) forwards ahead, then one forward, one backward in
// turn, then the w backwards that are left.
//
//   bubble ratio (p-1)/(m+p-1) for equal stages; min(m, p-i) microbatches in flight on device i.
#include "schedule/one_forward_one_backward.h"

#include <algorithm>

#include "schedule/loop_placement.h"

namespace orrery {
namespace {

std::vector<std::string> problems(const PipelineShape& shape) {
  if (shape.chunks == 1) return {};
  return {"1f1b holds one chunk a device, not " + std::to_string(shape.chunks) +
          "; interleaved_1f1b holds several"};
}

std::vector<PipelineOperation> order(const PipelineShape& shape, int device) {
  const int m = shape.microbatches;
  const int ahead = std::min(shape.devices - 1 - device, m);
  std::vector<PipelineOperation> out;
  out.reserve(2 * static_cast<std::size_t>(m));
  int f = 0;
  int b = 0;
  const auto forward = [&] {
    out.push_back({PipelineAction::forward, 0, static_cast<std::uint32_t>(f++)});
  };
  const auto backward = [&] {
    out.push_back({PipelineAction::backward, 0, static_cast<std::uint32_t>(b++)});
  };
  while (f < ahead) forward();
  while (f < m) {
    forward();
    backward();
  }
  while (b < m) backward();
  return out;
}

std::vector<int> peak_in_flight(const PipelineShape& shape, int device) {
  return {std::min(shape.microbatches, shape.devices - device)};
}

}  // namespace

const Schedule kOneForwardOneBackward{"1f1b", problems, order, loop_virtual_stage, peak_in_flight};

}  // namespace orrery
