#include "estimate/predicted_step.h"

#include <fmt/format.h>

#include <utility>

#include "cluster/accelerator_noun.h"
#include "lower/optimal_recompute.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "units/quantity_text.h"

namespace orrery {

namespace {

CostContext with_kernel_times(CostContext context, const Scenario& scenario) {
  if (context.kernel_times == scenario.kernel_times) return context;
  context.kernel_times = scenario.kernel_times;
  for (CostContext& site : context.further_sites) site.kernel_times = scenario.kernel_times;
  if (context.kernel_times != nullptr) context.assumed.push_back(context.kernel_times->source());
  return context;
}

// 2^53 ticks of 512 ps are 53 days; 2^62 ps still fit integers of 64 bits.
constexpr Picoseconds kLongestTick{512};
constexpr Picoseconds kLongestStep{kLongestExact.count() * kLongestTick.count()};

Picoseconds longest_exact(const CostContext& context) {
  return Picoseconds(kLongestExact.count() * context.tick.count());
}

// Priced again with the shortest tick in which so long a step is exact.
std::shared_ptr<PricedScenario> with_longer_tick(PricedScenario& priced, Picoseconds makespan) {
  CostContext context = priced.cache.context();
  for (std::size_t site = 1; site < priced.cache.sites(); ++site) {
    context.further_sites.push_back(priced.cache.at_site(site).context());
  }
  while (makespan > longest_exact(context)) context.tick = context.tick * 2;
  for (CostContext& site : context.further_sites) site.tick = context.tick;
  return std::make_shared<PricedScenario>(priced.scenario, std::move(context));
}

}  // namespace

Division PredictedStep::division() const { return priced->cache.division(plan()); }

PricedScenario::PricedScenario(Scenario asked, CostContext context, BlockGraphs graphs)
    : scenario(std::move(asked)),
      cache(scenario.model, scenario.training, with_kernel_times(std::move(context), scenario),
            graphs) {}

Flops model_flops_of_a_sequence(const PredictedStep& step, AttentionCount count) {
  const Training& training = step.training();
  std::function<double(const Operator&)> share;
  if (const DocumentRows* rows = step.priced->cache.documents(step.plan())) {
    share = [rows](const Operator& op) { return rows->real_share(op); };
  }
  const double kept = kept_tokens(step.model(), training, step.costs.priced_plan());
  if (kept < 1) {
    share = [kept, all = std::move(share)](const Operator& op) {
      const bool routed = op.kind == OperatorKind::grouped_gemm;
      return (routed ? kept : 1) * (all ? all(op) : 1);
    };
  }
  return model_flops_per_sequence(step.model(), static_cast<double>(training.sequence_length),
                                  count, static_cast<double>(training.source_length),
                                  training.workload, share);
}

std::vector<std::string> own_entries(const Catalog& catalog) {
  std::vector<std::string> out;
  for (const Catalog::Overlaid& own : catalog.overlaid_in_use()) out.push_back(own.in_words());
  return out;
}

Result<PredictedStep> predict(Scenario scenario, const Catalog& catalog) {
  ORRERY_TRY(const TrainingConditions conditions, load_training_conditions(catalog));
  return predict(std::move(scenario), catalog, conditions);
}

Result<PredictedStep> predict(Scenario scenario, const Catalog& catalog,
                              const TrainingConditions& conditions) {
  ORRERY_TRY(PredictedStep out, predict(std::move(scenario), [&](Scenario s) {
               return priced(std::move(s), catalog, conditions);
             }));
  for (std::string& own : own_entries(catalog)) out.defaults.push_back(std::move(own));
  return out;
}

Result<std::shared_ptr<PricedScenario>> priced(Scenario scenario, const Catalog& catalog,
                                               const TrainingConditions& conditions) {
  ORRERY_TRY(CostContext context,
             cost_context(scenario.cluster, catalog, conditions, scenario.software));
  return std::make_shared<PricedScenario>(std::move(scenario), std::move(context));
}

Result<PredictedStep> predict(Scenario scenario, const ScenarioPricing& pricing) {
  CompletedPlan completed =
      completed_plan(scenario.model, scenario.cluster, scenario.training, scenario.plan);
  const std::vector<std::string> problems =
      plan_problems(scenario.model, scenario.cluster, completed.training, completed.plan);
  if (!problems.empty()) return bad_input(fmt::format("{}", fmt::join(problems, "; ")), "plan");
  scenario.training = completed.training;
  ORRERY_TRY(std::shared_ptr<PricedScenario> made, pricing(std::move(scenario)));
  ORRERY_TRY(PredictedStep out, predict(std::move(made), completed.plan));
  out.defaults.insert(out.defaults.begin(), completed.assumed.begin(), completed.assumed.end());
  return out;
}

Result<PredictedStep> predict(std::shared_ptr<PricedScenario> priced, const Plan& plan,
                              LongStep longer) {
  PredictedStep out;
  if (plan.recompute == Recompute::optimal) {
    const OptimalRecompute chosen = optimal_recompute(priced->cache, plan);
    ORRERY_TRY(out, predict(std::move(priced), chosen.plan, longer));
    out.defaults.push_back(in_words(chosen));
    return out;
  }
  out.costs = step_costs(priced->cache, plan);
  out.priced = std::move(priced);
  ORRERY_TRY(out.folded, simulated(out.costs, Folding::folded));
  const Picoseconds makespan = out.folded.timeline.makespan;
  if (makespan <= longest_exact(out.priced->cache.context())) return out;
  if (longer == LongStep::refused) {
    return unsupported(
        fmt::format("the step takes {}; with ticks of {} ps times above {} are not exact",
                    to_text(makespan.seconds()), out.priced->cache.context().tick.count(),
                    to_text(longest_exact(out.priced->cache.context()).seconds())),
        "", "estimate this plan by itself, which takes a longer tick");
  }
  if (makespan > kLongestStep) {
    return unsupported(
        "the step takes " + to_text(makespan.seconds()) + "; times above 53 days are not simulated",
        "",
        fmt::format("a smaller batch, shorter sequences or more {}s",
                    accelerator_noun(out.priced->scenario.cluster)));
  }
  return predict(with_longer_tick(*out.priced, makespan), plan);
}

}  // namespace orrery
