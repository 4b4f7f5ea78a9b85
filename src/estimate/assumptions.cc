#include "estimate/assumptions.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "lower/model_costs.h"
#include "lower/unaligned_products.h"
#include "model/family.h"
#include "plan/plan_rules.h"

namespace orrery {
namespace {

// By convention MFU and HFU count every pair of tokens; a causal kernel computes half of them.
// Where that is much of the step, either may exceed 100 %. Empty where it is not.
std::string attention_note(const Model& model, const Estimate& e) {
  constexpr double kMuch = 0.25;  // of the FLOPs of the model
  const auto length = static_cast<double>(e.training.sequence_length);
  const auto source = static_cast<double>(e.training.source_length);
  const auto flops = [&](AttentionCount count) {
    return model_flops_per_sequence(model, length, count, source, e.training.workload);
  };
  const double computed = flops(AttentionCount::causal) / flops(AttentionCount::full);
  if (1 - computed < kMuch) return "";
  return fmt::format(
      "MFU and HFU count all pairs of tokens, as is usual; causal attention leaves out {:.0f} % of "
      "the model's FLOPs so counted; MFU of what is computed is {:.1f} %",
      100 * (1 - computed), 100 * computed * e.mfu);
}

}  // namespace

std::vector<std::string> assumptions(const PredictedStep& step, const Estimate& e) {
  const Scenario& scenario = step.priced->scenario;
  const CostContext& context = step.priced->cache.context();
  const Plan& plan = step.plan();
  std::vector<std::string> out = step.defaults;
  const auto add = [&](const std::vector<std::string>& more) {
    out.insert(out.end(), more.begin(), more.end());
  };
  if (!scenario.software_stated) out.push_back(software_assumption(scenario.software));
  if (!scenario.zero_stated && scenario.software.zero != Plan{}.zero) {
    out.push_back(fmt::format("zero {}: as users of {} run it", plan.zero, scenario.software.name));
  }
  if (plan.pp > 1 && plan.zero > scenario.software.pipeline_zero) {
    out.push_back(fmt::format("{} has no ZeRO {} beside a pipeline: priced as if it had",
                              scenario.software.name, plan.zero));
  }
  const std::optional<Model> as_held = scenario.model.family->as_held(
      scenario.model, division(scenario.cluster, scenario.training, plan));
  const Model& held = as_held ? *as_held : scenario.model;
  add(held.assumed);
  add(scenario.cluster.assumed);
  const KernelParameters& kernels = context.kernels.parameters();
  for (const KernelAssumption& a : kernels.assumed) {
    if (a.concerns(scenario.training.precision, plan.attention)) out.push_back(a.text);
  }
  add(context.assumed);
  if (std::string padded = unaligned_products(held, binding(held, scenario.training, plan),
                                              scenario.training.precision, kernels);
      !padded.empty()) {
    out.push_back(std::move(padded));
  }
  if (std::string note = attention_note(scenario.model, e); !note.empty()) {
    out.push_back(std::move(note));
  }
  return out;
}

}  // namespace orrery
