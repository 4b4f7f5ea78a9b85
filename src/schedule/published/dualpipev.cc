// DualPipeV: half of DualPipe, so that the weights are held once.
//
//   m >= 2p. Device r holds stages r and 2p-1-r (a V); its order: the eight steps of
//   dualpipe_steps.h with H = p, and the two chunks as the phases.
//
//   Device p-1 idles (p-1)(FB + BW - 3W) in times of a chunk, the others as much or less. 2p + 1
//   microbatches of a chunk are in flight on every device.
//
// Source: arXiv 2412.19437 and its DualPipe repository. Not modelled here: the overlap inside a
// pair with its all-to-all; it is part of the stated time.
#include "schedule/dualpipe_steps.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

std::vector<std::string> problems(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  if (shape.microbatches >= 2 * shape.devices) return {};
  return {"dualpipev needs two microbatches a device: " + std::to_string(shape.microbatches) +
          " microbatches are below " + std::to_string(2 * shape.devices)};
}

Result<Pipeline> order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Pipeline out = placed(shape, 1, snake_virtual_stage);
  const DualPipePhase phases[2] = {{0, 0}, {1, 0}};
  for (int r = 0; r < shape.devices; ++r) {
    out.order[static_cast<std::size_t>(r)] =
        dualpipe_steps(shape.devices, r, shape.microbatches, phases);
  }
  return out;
}

}  // namespace

const Schedule kDualPipeV{
    .name = "dualpipev",
    .summary = "DualPipe cut in half: a V, forwards paired with backwards (arXiv 2412.19437)",
    .chunks = 2,
    .splits_backward = true,
    .pairs_passes = true,
    .problems = problems,
    .virtual_stage = snake_virtual_stage,
    .pipeline = order};

}  // namespace orrery
