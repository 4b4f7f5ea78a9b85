#include "lower/simulated_step.h"

namespace orrery {

Result<SimulatedStep> simulated(const StepCosts& costs, Folding folding) {
  SimulatedStep out;
  ORRERY_TRY(out.step, step_graph(costs, folding));
  out.timeline = simulate(out.step.graph);
  out.windows = windows(costs, out.step, out.timeline);
  out.time = step_time(out.windows);
  if (const auto& times = costs.cache->context().kernel_times) {
    ORRERY_RETURN_IF_ERROR(times->outcome());
  }
  return out;
}

}  // namespace orrery
