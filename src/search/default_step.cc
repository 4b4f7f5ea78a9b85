#include "search/default_step.h"

#include <fmt/format.h>

#include <optional>
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
// leave a rank 4,096 tokens), 1F1B with and without interleaving, and the completed plan's values
// for all other axes. Models with embedding tables also keep micro-batch and ZeRO, because placing
// tables takes long. None where nothing fits.
std::optional<SearchResult> best_common_plan(const Scenario& asked, const Catalog& catalog,
                                             int threads, const SearchProgress& progress) {
  const auto completed = completed_plan(asked.model, asked.cluster, asked.training, asked.plan);
  const Plan& usual = completed.plan;
  const std::int64_t tokens = completed.training.sequence_length;
  constexpr std::int64_t kTokensOfARank = 4096;
  SearchSpace space;
  for (std::int64_t cp = 1; cp == 1 || cp * kTokensOfARank <= tokens; cp *= 2) {
    space.cp.push_back(cp);
  }
  space.zero = {1, 2, 3};
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
  space.schedules = {"1f1b", "interleaved_1f1b"};
  space.placements = {usual.placement};
  SearchOptions options;
  options.top = 1;
  options.threads = threads;
  options.best_alone = true;
  options.progress = progress;
  auto found = search(asked, space, options, catalog);
  if (!found || !found->winner) return std::nullopt;
  return *std::move(found);
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
  if (!best) return prices.predict(asked);
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
  step.defaults.insert(step.defaults.begin(), said.begin(), said.end());
  return step;
}

}  // namespace orrery
