#include "estimate/estimate.h"

#include <utility>

#include "estimate/assumptions.h"
#include "estimate/evaluate.h"
#include "plan/validity.h"

namespace orrery {

Result<Estimate> estimate(const Scenario& scenario, const Catalog& catalog) {
  ORRERY_TRY(const TrainingConditions conditions, load_training_conditions(catalog));
  ORRERY_TRY(Estimate out, estimate(scenario, catalog, conditions));
  ORRERY_TRY(const Uncertainty uncertainty, load_uncertainty(catalog));
  out.interval = interval(uncertainty, out.step_time, scenario.model, scenario.cluster,
                          out.training, scenario.software.name);
  return out;
}

Result<Estimate> estimate(const Scenario& scenario, const Catalog& catalog,
                          const TrainingConditions& conditions) {
  CompletedPlan completed =
      completed_plan(scenario.model, scenario.cluster, scenario.training, scenario.plan);
  const std::vector<std::string> problems =
      plan_problems(scenario.model, scenario.cluster, completed.training, completed.plan);
  if (!problems.empty()) {
    std::string all;
    for (const std::string& p : problems) all += (all.empty() ? "" : "; ") + p;
    return fail(ErrorCode::bad_input, std::move(all), "plan");
  }
  ORRERY_TRY(CostContext context,
             cost_context(scenario.cluster, catalog, conditions, scenario.software));
  CostCache cache(scenario.model, completed.training, std::move(context));
  ORRERY_TRY(Estimate out, evaluate(cache, completed.plan));
  out.assumed = assumptions(scenario, std::move(completed.assumed), cache.context(), out);
  return out;
}

}  // namespace orrery
