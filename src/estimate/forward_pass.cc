#include "estimate/forward_pass.h"

#include <algorithm>
#include <vector>

#include "lower/step_costs.h"
#include "plan/validity.h"

namespace orrery {
namespace {

// Calls `visit` with every block of every stage, and gives the number of microbatches.
template <class Visit>
Result<int> visit_blocks(const Scenario& scenario, const Catalog& catalog, Visit visit) {
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
  for (int device = 0; device < step.shape.devices; ++device) {
    for (int c = 0; c < step.chunks_held(); ++c) {
      const VirtualStage& stage = step.chunk(device, c);
      for (std::size_t l = 0; l < stage.layers; ++l) visit(device, step.block(stage, l));
      if (stage.embedding) visit(device, step.kept->embedding);
      if (stage.head) visit(device, step.kept->head);
    }
  }
  return microbatches(completed.training, completed.plan);
}

}  // namespace

Result<Breakdown> forward_breakdown(const Scenario& scenario, const Catalog& catalog) {
  Breakdown out;
  const auto add = [&](int, const BlockCost& block) { out += block.forward.breakdown; };
  ORRERY_TRY([[maybe_unused]] const int count, visit_blocks(scenario, catalog, add));
  return out;
}

Result<Seconds> launching_time(const Scenario& scenario, const Catalog& catalog) {
  std::vector<Seconds> of_device;
  const auto add = [&](int device, const BlockCost& block) {
    of_device.resize(std::max(of_device.size(), static_cast<std::size_t>(device) + 1));
    of_device[static_cast<std::size_t>(device)] +=
        (block.forward.host + block.backward.host).seconds();
  };
  ORRERY_TRY(const int count, visit_blocks(scenario, catalog, add));
  Seconds longest;
  for (const Seconds host : of_device) longest = std::max(longest, host);
  return longest * count;
}

}  // namespace orrery
