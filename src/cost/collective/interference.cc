#include "cost/collective/interference.h"

#include <algorithm>

#include "cost/collective/communication_path.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

// A rank always keeps some bandwidth of its memory.
constexpr double kMostMemory = 0.9;

}  // namespace

int units_held(const InterferenceParameters& parameters, CollectiveAlgorithm algorithm, int nodes) {
  if (algorithm == CollectiveAlgorithm::pairwise) {
    return nodes == 1 ? parameters.scale_up_units : parameters.exchange_units;
  }
  if (algorithm == CollectiveAlgorithm::in_switch && nodes == 1) return parameters.in_switch_units;
  return nodes == 1 ? parameters.scale_up_units : parameters.scale_out_units;
}

Bytes memory_traffic(CollectiveKind kind, CollectiveAlgorithm algorithm, Bytes payload, int ranks) {
  const double others = (ranks - 1.0) / ranks;
  if (algorithm == CollectiveAlgorithm::in_switch) {
    // Read once into the switch, written once out of it; the rank's own part of a gather or scatter
    // is 1/P on one of the two sides.
    return kind == CollectiveKind::all_reduce ? payload * 2 : payload * (1 + 1.0 / ranks);
  }
  switch (kind) {
    case CollectiveKind::all_reduce:
      // Reduce-scatter with reduction, then all-gather: 3 + 2 for each byte on the links.
      return payload * (5 * others);
    case CollectiveKind::reduce_scatter:
      return payload * (3 * others);
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return payload * (2 * others);
    case CollectiveKind::broadcast:
      return payload * 2;
  }
  return Bytes(0);
}

CommunicationInterference communication_interference(CollectiveKind kind, Bytes payload,
                                                     const GroupShape& group,
                                                     const std::vector<FabricLevel>& levels,
                                                     const CollectiveChoice& choice,
                                                     const CollectiveParameters& parameters,
                                                     const InterferedAccelerator& accelerator) {
  ORRERY_INVARIANT(accelerator.compute_units >= 1);
  ORRERY_INVARIANT(accelerator.memory > BytesPerSecond(0));
  if (group.size == 1 || !(choice.time > Seconds(0))) return {};
  const CommunicationPath path = communication_path(group, levels, parameters);
  const int held = units_held(parameters.interference, choice.algorithm, path.nodes);
  CommunicationInterference out;
  out.compute_share = static_cast<double>(std::min(held, accelerator.compute_units - 1)) /
                      accelerator.compute_units;
  out.memory_share =
      std::min(kMostMemory, memory_traffic(kind, choice.algorithm, payload, group.size) /
                                choice.time / accelerator.memory);
  return out;
}

}  // namespace orrery
