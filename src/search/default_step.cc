#include "search/default_step.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "estimate/estimate.h"
#include "plan/plan_settings.h"
#include "search/search.h"

namespace orrery {
namespace {

// The plan that differs from the default in tp, pp, ep and recomputation and has the shortest step,
// and how many were considered. Nothing where none fits.
std::optional<std::pair<Plan, std::int64_t>> split_to_fit(const Spec& spec, const Plan& plan,
                                                          const Catalog& catalog, int threads) {
  SearchSpace space;
  space.cp = space.chunks = space.micro_batch = {1};
  space.zero = {plan.zero};
  space.recompute_layers = {0};
  space.modules.emplace_back();
  space.dispatch = {plan.dispatch};
  space.context_parallel = {plan.context_parallel};
  space.schedules = {plan.schedule};
  space.placements = {plan.placement};
  SearchOptions options;
  options.top = 1;
  options.threads = threads;
  const auto found = search(spec.scenario, space, options, catalog);
  if (!found || !found->winner) return std::nullopt;
  return std::pair(found->winner->plan(), found->considered);
}

}  // namespace

Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, int threads) {
  KeptPrices prices(catalog);
  return default_step(spec, catalog, prices, threads);
}

Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, KeptPrices& prices,
                                   int threads) {
  ORRERY_TRY(PredictedStep step, prices.predict(spec.scenario));
  if (!spec.stated.empty() || estimate(step).verdict != Verdict::does_not_fit) return step;
  const auto split = split_to_fit(spec, step.plan(), catalog, threads);
  if (!split) return step;
  Scenario other = spec.scenario;
  other.plan = split->first;
  auto fitting = prices.predict(std::move(other));
  if (!fitting) return step;
  fitting->defaults.insert(
      fitting->defaults.begin(),
      fmt::format("plan {}: no plan was stated, and data parallelism alone does not fit; the "
                  "fastest of {} plans that vary tp, pp, ep and recomputation",
                  plan_settings(fitting->plan()), split->second));
  return fitting;
}

}  // namespace orrery
