#include "search/default_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cluster/accelerator_noun.h"
#include "estimate/estimate.h"
#include "plan/completed_plan.h"
#include "plan/plan_settings.h"
#include "search/search.h"

namespace orrery {
namespace {

// The fastest plan of a space that takes about a second to search: every degree (of cp those that
// leave a rank 4,096 tokens), the schedules of the software, and the completed plan's values for
// all other axes. Models with embedding tables also keep micro-batch and ZeRO, because placing
// tables takes long. Without a winner where nothing fits. Errors: those of search().
Result<SearchResult> best_common_plan(const Scenario& asked, const Catalog& catalog, int threads,
                                      const SearchProgress& progress) {
  const auto completed = completed_plan(asked.model, asked.cluster, asked.training, asked.plan);
  const Plan& usual = completed.plan;
  constexpr std::int64_t kTokensOfARank = 4096;
  const std::int64_t parts =
      std::min(completed.training.sequence_length / kTokensOfARank, asked.cluster.accelerators);
  SearchSpace space;
  space.cp = {1};
  for (std::int64_t cp = 2; cp <= parts; cp *= 2) space.cp.push_back(cp);
  space.zero = {1, 2, 3};
  if (usual.zero == 0) space.zero.insert(space.zero.begin(), 0);
  space.pipeline_zero = asked.software.pipeline_zero;
  if (asked.model.tables > 0) {
    space.micro_batch = {usual.micro_batch};
    space.zero = {usual.zero};
    space.table_sharding = {usual.table_sharding};
    space.towers = {usual.towers};
    space.codec = {usual.codec};
  }
  // Half as many plans; at most 1 % slower than all-to-all (Mixtral), up to 30 % faster.
  if (asked.model.experts > 0) space.dispatch = {ExpertDispatch::deduplicated};
  space.recompute_layers = {0};
  space.context_parallel = {usual.context_parallel};
  space.placements = {usual.placement};
  SearchOptions options;
  options.top = 1;
  options.threads = threads;
  options.best_alone = true;
  options.progress = progress;
  return search(asked, space, options, catalog);
}

}  // namespace

Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, int threads,
                                   const SearchProgress& progress) {
  KeptPrices prices(catalog);
  return default_step(spec, catalog, prices, threads, progress);
}

Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, KeptPrices& prices,
                                   int threads, const SearchProgress& progress) {
  const Scenario& asked = spec.scenario;
  if (!spec.stated.empty()) return prices.predict(asked);
  const auto best = best_common_plan(asked, catalog, threads, progress);
  if (!best || !best->winner) {
    ORRERY_TRY(PredictedStep step, prices.predict(asked));
    step.defaults.insert(step.defaults.begin(),
                         "no plan was stated; this is data parallelism alone, for " +
                             (best ? fmt::format("none of {} common plans fits", best->considered)
                                   : best.error().message));
    return step;
  }
  // Compared for one batch, and predicted for that one: with the batch of its own replicas another
  // plan may be the fastest.
  Scenario chosen = asked;
  chosen.plan = best->winner->plan();
  chosen.training.global_batch = best->winner->training().global_batch;
  ORRERY_TRY(PredictedStep step, prices.predict(std::move(chosen)));
  std::vector<std::string> said = {fmt::format(
      "plan {}: no plan was stated; this is the fastest of {} common plans (orrery search tries "
      "more)",
      plan_settings(step.plan()), best->considered)};
  if (asked.training.global_batch == 0) {
    said.push_back(
        assumed_batch(asked.model, asked.plan, step.training().global_batch,
                      fmt::format("one for each {}, as data parallelism alone would take",
                                  accelerator_noun(asked.cluster))));
  }
  if (!asked.software.schedules && step.plan().pp > 1) {
    said.push_back(best->schedules_line);
  }
  step.defaults.insert(step.defaults.begin(), said.begin(), said.end());
  return step;
}

}  // namespace orrery
