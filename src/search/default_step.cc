#include "search/default_step.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimate/estimate.h"
#include "plan/completed_plan.h"
#include "plan/plan_settings.h"
#include "search/search.h"

namespace orrery {
namespace {

// The best of the plans that differ from `plan` in tp, pp, ep and recomputation, all of them for
// the same batch. None where none fits.
std::optional<SearchResult> split_to_fit(const Spec& spec, const Plan& plan, const Catalog& catalog,
                                         int threads) {
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
  auto found = search(spec.scenario, space, options, catalog);
  if (!found || !found->winner) return std::nullopt;
  return *std::move(found);
}

}  // namespace

Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, int threads) {
  KeptPrices prices(catalog);
  return default_step(spec, catalog, prices, threads);
}

Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, KeptPrices& prices,
                                   int threads) {
  auto step = prices.predict(spec.scenario);
  if (!spec.stated.empty() || (step && estimate(*step).verdict != Verdict::does_not_fit)) {
    return step;
  }
  const Scenario& asked = spec.scenario;
  const Plan plan = completed_plan(asked.model, asked.cluster, asked.training, asked.plan).plan;
  const auto split = split_to_fit(spec, plan, catalog, threads);
  if (!split) return step;
  // Compared for one batch, and predicted for that one: with the batch of its own replicas another
  // plan may be the fastest.
  Scenario other = asked;
  other.plan = split->winner->plan();
  other.training.global_batch = split->winner->training().global_batch;
  auto fitting = prices.predict(std::move(other));
  if (!fitting) return step;
  std::vector<std::string> said = {fmt::format(
      "plan {}: no plan was stated, and data parallelism alone {}; the fastest of {} "
      "plans that vary tp, pp, ep and recomputation",
      plan_settings(fitting->plan()), step ? "does not fit" : "cannot run", split->considered)};
  if (asked.training.global_batch == 0) {
    said.push_back(assumed_batch(asked.model, asked.plan, fitting->training().global_batch,
                                 "one for each GPU, as data parallelism alone would take"));
  }
  fitting->defaults.insert(fitting->defaults.begin(), said.begin(), said.end());
  return fitting;
}

}  // namespace orrery
