#include "estimate/estimate.h"

#include <fmt/core.h>

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

namespace {

// By convention MFU and HFU count every pair of tokens; a causal kernel computes half of them.
// Where that is much of the step, either may exceed 100 %. Empty where it is not.
std::string attention_note(const Model& model, const Estimate& e) {
  constexpr double kMuch = 0.25;  // of the FLOPs of the model
  const auto length = static_cast<double>(e.training.sequence_length);
  const auto source = static_cast<double>(e.training.source_length);
  const double computed = model_flops_per_sequence(model, length, AttentionCount::causal, source) /
                          model_flops_per_sequence(model, length, AttentionCount::full, source);
  if (1 - computed < kMuch) return "";
  return fmt::format(
      "MFU and HFU count all pairs of tokens, as is usual; causal attention leaves out {:.0f} % of "
      "the model's FLOPs so counted; MFU of what is computed is {:.1f} %",
      100 * (1 - computed), 100 * computed * e.mfu);
}

}  // namespace

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
  std::vector<std::string> assumed = std::move(completed.assumed);
  if (!scenario.software_stated) assumed.push_back(software_assumption(scenario.software));
  const std::vector<std::string>& of_cluster = scenario.cluster.assumed;
  assumed.insert(assumed.end(), of_cluster.begin(), of_cluster.end());
  for (const KernelAssumption& a : context.kernels.parameters().assumed) {
    if (a.concerns(completed.training.precision, completed.plan.attention)) {
      assumed.push_back(a.text);
    }
  }
  assumed.insert(assumed.end(), context.assumed.begin(), context.assumed.end());
  CostCache cache(scenario.model, completed.training, std::move(context));
  ORRERY_TRY(Estimate out, evaluate(cache, completed.plan));
  out.assumed = std::move(assumed);
  if (std::string note = attention_note(scenario.model, out); !note.empty()) {
    out.assumed.push_back(std::move(note));
  }
  return out;
}

}  // namespace orrery
