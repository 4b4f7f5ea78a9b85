// The grouped interleaved schedule: interleaved 1F1B in groups smaller than the pipeline, with the
// weight gradient split off and a regular sequence of forward, input gradient, weight gradient.
//
//   g in ceil(p/2)..p (the default is the smallest). The forwards in virtual order: group by
//   group, chunk by chunk; the backwards the same with chunk v-1-c. Device i begins with
//   (v-1) g + p - i forwards, then one B, its W and one forward in turn, then the remaining B and
//   W. If the last group is not full, its missing microbatches are left out.
//
//   (v-1) g + p - i microbatches of a chunk are in flight on device i if there are as many: with
//   g = p/2 (p/2)(1 + 1/v) microbatches, against p (1 + (p-1)/(p v)) of interleaved 1F1B.
//
// PipeOffload: the same order with the copies of offloading.h: of all activations (PO-F), or of the
// half with the longest lifetimes (PO-H), as far as the link to the host can carry them. If it can
// carry all, the memory of a device does not grow with p or m. The times of a
// copy are those of the stage (offload, reload); without them copies take no time.
//
// Source: arXiv 2503.01328 (generalised interleaved schedules, PO-F, PO-H). Not here: recomputation
// of some chunks.
#include <algorithm>

#include "schedule/offloading.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

int smallest_group(const PipelineShape& shape) { return (shape.devices + 1) / 2; }

int gis_group(const ScheduleRequest& request) {
  return request.group > 0 ? request.group : smallest_group(request.shape);
}

std::vector<std::string> gis_problems(const ScheduleRequest& request) {
  const int group = gis_group(request);
  const int p = request.shape.devices;
  if (group >= smallest_group(request.shape) && group <= p) return {};
  return {"gis passes microbatches in groups of " + std::to_string(smallest_group(request.shape)) +
          " to " + std::to_string(p) + " on " + std::to_string(p) + " devices, not " +
          std::to_string(group)};
}

int gis_warm_up(const PipelineShape& shape, int group, int device) {
  return (shape.chunks - 1) * group + shape.devices - device;
}

Result<Pipeline> gis_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  const int g = gis_group(request);
  const int v = shape.chunks;
  const int m = shape.microbatches;
  Pipeline out = placed(shape, 1, loop_virtual_stage);
  const int places = (m + g - 1) / g * g * v;
  const auto microbatch = [&](int k) { return k / (g * v) * g + k % g; };
  const auto chunk = [&](int k) { return k / g % v; };
  for (int device = 0; device < shape.devices; ++device) {
    auto& operations = out.order[static_cast<std::size_t>(device)];
    operations.reserve(3 * static_cast<std::size_t>(m) * static_cast<std::size_t>(v));
    const auto add = [&](PipelineAction action, int c, int k) {
      if (k >= places || microbatch(k) >= m) return;
      operations.push_back(
          {action, static_cast<std::uint16_t>(c), static_cast<std::uint32_t>(microbatch(k))});
    };
    const int ahead = gis_warm_up(shape, g, device);
    for (int k = 0; k < ahead; ++k) add(PipelineAction::forward, chunk(k), k);
    for (int k = 0; k < places; ++k) {
      add(PipelineAction::input_gradient, v - 1 - chunk(k), k);
      add(PipelineAction::weight_gradient, v - 1 - chunk(k), k);
      add(PipelineAction::forward, chunk(ahead + k), ahead + k);
    }
  }
  return out;
}

template <int percent>
Result<Pipeline> offloaded(const ScheduleRequest& request) {
  ORRERY_TRY(Pipeline out, gis_order(request));
  return with_offloading(std::move(out), times_or_unit(request), percent / 100.0);
}

}  // namespace

const Schedule kGis{.name = "gis",
                    .summary =
                        "interleaved in groups smaller than the pipeline, backward split "
                        "(arXiv 2503.01328)",
                    .splits_backward = true,
                    .problems = gis_problems,
                    .virtual_stage = loop_virtual_stage,
                    .pipeline = gis_order,
                    .longest_run = gis_group};

const Schedule kPipeOffloadFull{
    .name = "pipeoffload_full",
    .summary = "gis with the activations in host memory in between (arXiv 2503.01328)",
    .splits_backward = true,
    .made_for_times = true,
    .problems = gis_problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = offloaded<100>};

const Schedule kPipeOffloadHalf{
    .name = "pipeoffload_half",
    .summary =
        "gis with the longest held half of the activations in host memory "
        "(arXiv 2503.01328)",
    .splits_backward = true,
    .made_for_times = true,
    .problems = gis_problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = offloaded<50>};

}  // namespace orrery
