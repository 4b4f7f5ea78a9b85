#include "cost/collective/interference.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery {

double compute_share_lost(const CollectiveParameters& parameters, int compute_units,
                          CollectiveReach reach) {
  ORRERY_INVARIANT(compute_units >= 1);
  const InterferenceParameters& p = parameters.interference;
  const int held = reach == CollectiveReach::scale_up ? p.scale_up_units : p.scale_out_units;
  return static_cast<double>(std::min(held, compute_units - 1)) / compute_units;
}

double compute_share_lost(const CollectiveParameters& parameters, int compute_units) {
  return std::max(compute_share_lost(parameters, compute_units, CollectiveReach::scale_up),
                  compute_share_lost(parameters, compute_units, CollectiveReach::scale_out));
}

double memory_share_lost(CollectiveKind kind, BytesPerSecond bus, BytesPerSecond memory) {
  ORRERY_INVARIANT(memory > BytesPerSecond(0));
  const bool reduces = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
  return std::min(1.0, bus * (reduces ? 3.0 : 2.0) / memory);
}

}  // namespace orrery
