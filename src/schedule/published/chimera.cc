// Chimera: two pipelines in opposite directions over the same devices.
//
//   p even, m a multiple of p. A unit is p microbatches, the first half down (stage s on device s),
//   the second up (stage s on device p-1-s). On a grid of slots, for unit u, the k-th microbatch of
//   its direction and stage s:  F at 2k + s + 2pu,  BW at 2k + 2p-1-s + 2pu.  For even
//   p no two operations of a device have the same slot; the order of the slots is its order.
//
//   For BW >= F and m = p a device idles (p-2) BW; each further unit adds (p-2)(BW - F). At most
//   min(i, p-1-i) + p/2 + 1 microbatches are in flight on device i. Weights are held twice.
//
// Source: arXiv 2107.06925 (direct concatenation of units). Not here: forward doubling and backward
// halving, which change the size of a microbatch; more than one pair of pipelines; the all-reduce
// between the two copies of a stage, which belongs to the plan.
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

constexpr auto kChimeraPlacement = bidirectional_virtual_stage<loop_virtual_stage>;

std::vector<std::string> chimera_problems(const ScheduleRequest& request) {
  return bidirectional_problems("chimera", request.shape);
}

Result<Pipeline> chimera_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Pipeline out = placed(shape, 2, kChimeraPlacement);
  out.route = routes_of_units(shape);
  const auto p = static_cast<std::size_t>(shape.devices);
  const std::size_t units = static_cast<std::size_t>(shape.microbatches) / p;
  // By slot; a microbatch that is not there is an empty slot.
  constexpr std::uint32_t kEmpty = 0xffffffff;
  std::vector<PipelineOperation> slots;
  for (std::size_t device = 0; device < p; ++device) {
    slots.assign(2 * p * units + p, {PipelineAction::forward, 0, kEmpty});
    for (std::size_t u = 0; u < units; ++u) {
      for (std::size_t up = 0; up < 2; ++up) {
        const std::size_t s = up == 0 ? device : p - 1 - device;
        for (std::size_t k = 0; k < p / 2; ++k) {
          const auto j = static_cast<std::uint32_t>(u * p + up * p / 2 + k);
          const auto chunk = static_cast<std::uint16_t>(up);
          slots[2 * k + s + 2 * p * u] = {PipelineAction::forward, chunk, j};
          slots[2 * k + 2 * p - 1 - s + 2 * p * u] = {PipelineAction::backward, chunk, j};
        }
      }
    }
    out.order[device].reserve(2 * p * units);
    for (const PipelineOperation& op : slots) {
      if (op.microbatch != kEmpty) out.order[device].push_back(op);
    }
  }
  return out;
}

}  // namespace

const Schedule kChimera{.name = "chimera",
                        .summary = "two pipelines in opposite directions (arXiv 2107.06925)",
                        .chunks = 1,
                        .routes = 2,
                        .problems = chimera_problems,
                        .virtual_stage = kChimeraPlacement,
                        .pipeline = chimera_order};

}  // namespace orrery
