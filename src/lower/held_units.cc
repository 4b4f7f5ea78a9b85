#include "lower/held_units.h"

#include <cmath>

namespace orrery {
namespace {

// Between its halves a split backward keeps a part of the activations; in sixteenths, so that plans
// share what is remembered.
constexpr double kParts = 16;

int parts_kept(const StepCosts& step) {
  double saved = 0;
  double kept = 0;
  for (const VirtualStage& s : step.stages) {
    saved += s.totals.saved.value();
    kept += s.totals.saved_for_weight_gradient.value();
  }
  return saved > 0 ? static_cast<int>(std::lround(kParts * kept / saved)) : 0;
}

}  // namespace

InFlight held_units(const StepCosts& step, int device) {
  const Schedule& schedule = *step.schedule;
  if (schedule.peak_in_flight != nullptr && step.plan.group == 0) {
    InFlight out;
    out.held = schedule.peak_in_flight(step.shape, device);
    out.pending.resize(out.held.size());
    return out;
  }
  const int parts = schedule.splits_backward ? parts_kept(step) : 0;
  return step.cache->in_flight(schedule, step.shape, static_cast<int>(step.plan.group),
                               parts / kParts)[static_cast<std::size_t>(device)];
}

}  // namespace orrery
