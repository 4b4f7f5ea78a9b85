// Interleaved 1F1B: every device holds v chunks; microbatches pass in groups of p through all
// chunks.
//
//   warm-up W_i = min(2(p-1-i) + (v-1)p, mv) chunk forwards, then one forward, one backward in
//   turn; bubble ratio (p-1)/(vm+p-1); (W_i+1)/v microbatches in flight.
//
// Valid when m is a multiple of p or leaves a remainder of at least p, which a group of p cannot:
// so m mod p = 0. Source: arXiv 2104.04473 s.2.2 and Fig. 4.
#include "schedule/interleaved_1f1b.h"

#include <algorithm>

#include "schedule/loop_placement.h"

namespace orrery {
namespace {

std::vector<std::string> problems(const PipelineShape& shape) {
  std::vector<std::string> out;
  if (shape.microbatches % shape.devices != 0) {
    out.push_back("interleaved_1f1b passes microbatches in groups of pp: " +
                  std::to_string(shape.microbatches) + " microbatches are not a multiple of " +
                  std::to_string(shape.devices));
  }
  return out;
}

// The k-th chunk forward of the common virtual order: groups of p microbatches, chunk by chunk.
PipelineOperation virtual_forward(const PipelineShape& shape, int k) {
  const int per_group = shape.devices * shape.chunks;
  const int group = k / per_group;
  const int within = k % per_group;
  return {PipelineAction::forward, static_cast<std::uint16_t>(within / shape.devices),
          static_cast<std::uint32_t>(group * shape.devices + within % shape.devices)};
}

PipelineOperation virtual_backward(const PipelineShape& shape, int k) {
  PipelineOperation op = virtual_forward(shape, k);
  op.action = PipelineAction::backward;
  op.chunk = static_cast<std::uint16_t>(shape.chunks - 1 - op.chunk);
  return op;
}

int warm_up(const PipelineShape& shape, int device) {
  return std::min(2 * (shape.devices - 1 - device) + (shape.chunks - 1) * shape.devices,
                  shape.microbatches * shape.chunks);
}

std::vector<PipelineOperation> order(const PipelineShape& shape, int device) {
  const int total = shape.microbatches * shape.chunks;
  const int ahead = warm_up(shape, device);
  std::vector<PipelineOperation> out;
  out.reserve(2 * static_cast<std::size_t>(total));
  int f = 0;
  int b = 0;
  while (f < ahead) out.push_back(virtual_forward(shape, f++));
  while (f < total) {
    out.push_back(virtual_forward(shape, f++));
    out.push_back(virtual_backward(shape, b++));
  }
  while (b < total) out.push_back(virtual_backward(shape, b++));
  return out;
}

std::vector<int> peak_in_flight(const PipelineShape& shape, int device) {
  const int held = std::min(warm_up(shape, device) + 1, shape.microbatches * shape.chunks);
  const int per_group = shape.devices * shape.chunks;
  std::vector<int> out(static_cast<std::size_t>(shape.chunks), held / per_group * shape.devices);
  int rest = held % per_group;
  for (int& chunk : out) {
    const int here = std::min(rest, shape.devices);
    chunk += here;
    rest -= here;
  }
  return out;
}

}  // namespace

const Schedule kInterleaved1F1B{"interleaved_1f1b", problems, order, loop_virtual_stage,
                                peak_in_flight};

}  // namespace orrery
