// Breadth-first: all microbatches pass a chunk before any passes the next; backwards the same way.
//
//   device i: for chunk 0..v-1 the forwards of all m microbatches; then for chunk v-1..0 all
//   backwards. m (F + BW) + (p-1)(F + BW)/v with F, BW of a device's share of a microbatch, if
//   m >= p: bubble ratio (p-1)/(v m + p-1). All m microbatches of every chunk are in flight.
//
// Because the microbatches of a chunk follow each other, sharded weights are gathered once per
// chunk and step, not once per group of microbatches. Source: arXiv 2211.05953.
// Those gathers are counted where a step is lowered (lower/shard_moves.h).
//
// Layered gradient accumulation on a modular pipeline is the same order with one layer a chunk:
// layer l on device l mod p, so L layers make v = L/p chunks; the outer loop is over layers, the
// inner one over microbatches. Chunks must be single layers to match the paper. Source: arXiv
// 2106.02679. Not modelled here: state sharding, which belongs to the plan, and the transfers over
// L-1 boundaries, which belong to the times.
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

Result<Pipeline> breadth_first_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Pipeline out = placed(shape, 1, loop_virtual_stage);
  const auto m = static_cast<std::uint32_t>(shape.microbatches);
  for (auto& device : out.order) {
    device.reserve(2 * std::size_t{m} * static_cast<std::size_t>(shape.chunks));
    for (int c = 0; c < shape.chunks; ++c) {
      for (std::uint32_t j = 0; j < m; ++j) {
        device.push_back({PipelineAction::forward, static_cast<std::uint16_t>(c), j});
      }
    }
    for (int c = shape.chunks; c-- > 0;) {
      for (std::uint32_t j = 0; j < m; ++j) {
        device.push_back({PipelineAction::backward, static_cast<std::uint16_t>(c), j});
      }
    }
  }
  return out;
}

std::vector<int> peak_of_breadth_first(const PipelineShape& shape, int) {
  return std::vector<int>(static_cast<std::size_t>(shape.chunks), shape.microbatches);
}

}  // namespace

const Schedule kBreadthFirst{
    .name = "breadth_first",
    .summary = "all microbatches pass a chunk before any passes the next (arXiv 2211.05953)",
    .virtual_stage = loop_virtual_stage,
    .pipeline = breadth_first_order,
    .peak_in_flight = peak_of_breadth_first};

const Schedule kModularLga{
    .name = "modular_lga",
    .summary =
        "layered gradient accumulation, one layer a chunk, round the devices "
        "(arXiv 2106.02679)",
    .virtual_stage = loop_virtual_stage,
    .pipeline = breadth_first_order,
    .peak_in_flight = peak_of_breadth_first};

}  // namespace orrery
