// Interleaved 1F1B: every device holds v chunks; microbatches pass in groups of g through all
// chunks.
//
//   warm-up W_i = min(2(p-1-i) + (v-1)g, mv) chunk forwards, then one forward, one backward in
//   turn; with g = p the bubble ratio is (p-1)/(vm+p-1), and (W_i+1)/v microbatches are in flight.
//
// Valid when m mod g = 0 or m mod g >= p: a smaller last group would wait for itself. Source: arXiv
// 2104.04473; group size as in Megatron-Core's
// microbatch_group_size_per_virtual_pipeline_stage.
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

int group_of(const ScheduleRequest& request) {
  return request.group > 0 ? request.group : request.shape.devices;
}

std::vector<std::string> interleaved_problems(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  const int group = group_of(request);
  std::vector<std::string> out;
  if (group < shape.devices) {
    out.push_back(
        "interleaved_1f1b passes microbatches in groups of one a device or more: a group of " +
        std::to_string(group) + " on " + std::to_string(shape.devices) + " devices");
  }
  const int rest = shape.microbatches % group;
  if (rest != 0 && rest < shape.devices) {
    out.push_back("interleaved_1f1b passes microbatches in groups of " +
                  (group == shape.devices ? std::string("one a device") : std::to_string(group)) +
                  ": " + std::to_string(shape.microbatches) +
                  " microbatches are not a multiple of " + std::to_string(group) +
                  (group == shape.devices ? ""
                                          : ", nor leave a last group of " +
                                                std::to_string(shape.devices) + " or more"));
  }
  return out;
}

// The common virtual order of all chunk forwards: group by group, chunk by chunk.
std::vector<PipelineOperation> virtual_order(const PipelineShape& shape, int group,
                                             PipelineAction action) {
  std::vector<PipelineOperation> out;
  out.reserve(static_cast<std::size_t>(shape.microbatches) *
              static_cast<std::size_t>(shape.chunks));
  for (int first = 0; first < shape.microbatches; first += group) {
    const int last = std::min(first + group, shape.microbatches);
    for (int c = 0; c < shape.chunks; ++c) {
      const int chunk = action == PipelineAction::forward ? c : shape.chunks - 1 - c;
      for (int j = first; j < last; ++j) {
        out.push_back({action, static_cast<std::uint16_t>(chunk), static_cast<std::uint32_t>(j)});
      }
    }
  }
  return out;
}

int warm_up(const PipelineShape& shape, int group, int device) {
  return std::min(2 * (shape.devices - 1 - device) + (shape.chunks - 1) * group,
                  shape.microbatches * shape.chunks);
}

Result<Pipeline> interleaved_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  const int group = group_of(request);
  Pipeline out = placed(shape, 1, loop_virtual_stage);
  const auto forwards = virtual_order(shape, group, PipelineAction::forward);
  const auto backwards = virtual_order(shape, group, PipelineAction::backward);
  for (int device = 0; device < shape.devices; ++device) {
    auto& operations = out.order[static_cast<std::size_t>(device)];
    operations.reserve(2 * forwards.size());
    const auto ahead = static_cast<std::size_t>(warm_up(shape, group, device));
    std::size_t b = 0;
    for (std::size_t f = 0; f < forwards.size(); ++f) {
      operations.push_back(forwards[f]);
      if (f >= ahead) operations.push_back(backwards[b++]);
    }
    while (b < backwards.size()) operations.push_back(backwards[b++]);
  }
  return out;
}

// For groups of p.
std::vector<int> peak_of_interleaved(const PipelineShape& shape, int device) {
  const int held =
      std::min(warm_up(shape, shape.devices, device) + 1, shape.microbatches * shape.chunks);
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

const Schedule kInterleaved1F1B{
    .name = "interleaved_1f1b",
    .summary = "1F1B over several chunks a device, microbatches in groups (arXiv 2104.04473)",
    .problems = interleaved_problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = interleaved_order,
    .peak_in_flight = peak_of_interleaved,
    .longest_run = group_of};

}  // namespace orrery
