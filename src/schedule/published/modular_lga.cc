// Layered gradient accumulation on a modular pipeline: breadth-first with one layer per chunk.
//
//   layer l on device l mod p, so L layers make v = L/p chunks; the outer loop is over layers, the
//   inner one over microbatches. Idle (p-1)(F + BW) p/L, that is (p-1)(F + BW)/v, where F and BW
//   are of a device's share of a microbatch. All m microbatches of every layer are in flight (with
//   recomputation: their inputs).
//
// The order is that of breadth_first; chunks must be single layers to match the paper. Source:
// arXiv 2106.02679 (layered gradient accumulation, modular pipeline). Not modelled here: state
// sharding, which belongs to the plan, and the transfers over L-1 boundaries, which belong to the
// times.
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

int virtual_stage(const PipelineShape& shape, int device, int chunk) {
  return kBreadthFirst.virtual_stage(shape, device, chunk);
}

Result<Pipeline> order(const ScheduleRequest& request) { return kBreadthFirst.pipeline(request); }

std::vector<int> peak_in_flight(const PipelineShape& shape, int device) {
  return kBreadthFirst.peak_in_flight(shape, device);
}

}  // namespace

const Schedule kModularLga{
    .name = "modular_lga",
    .summary =
        "layered gradient accumulation, one layer a chunk, round the devices "
        "(arXiv 2106.02679)",
    .virtual_stage = virtual_stage,
    .pipeline = order,
    .peak_in_flight = peak_in_flight};

}  // namespace orrery
