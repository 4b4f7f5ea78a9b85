#include "estimate/forward_pass.h"

#include "lower/step_costs.h"
#include "plan/validity.h"

namespace orrery {

Result<Breakdown> forward_breakdown(const Scenario& scenario, const Catalog& catalog) {
  ORRERY_TRY(const TrainingConditions conditions, load_training_conditions(catalog));
  CompletedPlan completed =
      completed_plan(scenario.model, scenario.cluster, scenario.training, scenario.plan);
  const std::vector<std::string> problems =
      plan_problems(scenario.model, scenario.cluster, completed.training, completed.plan);
  if (!problems.empty()) return fail(ErrorCode::bad_input, problems.front(), "plan");
  ORRERY_TRY(CostContext context,
             cost_context(scenario.cluster, catalog, conditions, scenario.software));
  CostCache cache(scenario.model, completed.training, std::move(context));
  const StepCosts step = step_costs(cache, completed.plan);
  Breakdown out;
  for (int device = 0; device < step.shape.devices; ++device) {
    for (int c = 0; c < step.chunks_held(); ++c) {
      const VirtualStage& stage = step.chunk(device, c);
      for (std::size_t l = 0; l < stage.layers; ++l) {
        out += step.block(stage, l).forward.breakdown;
      }
      if (stage.embedding) out += step.kept->embedding.forward.breakdown;
      if (stage.head) out += step.kept->head.forward.breakdown;
    }
  }
  return out;
}

}  // namespace orrery
