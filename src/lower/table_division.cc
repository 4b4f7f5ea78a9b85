// What decides where embedding tables lie (model/recommendation/table_placement.h): rates, by which
// the planner divides them, and the price of a step, by which it chooses among the placements that
// it has made in different ways. Both are those of the step's own cost model.
//
// The rate of an exchange is that of what is added to one as large as that of all tables,
//
//   rate = B / (t(2 B) - t(B))
//
// t: the collective (cost/collective/collective.h), of partial sums the mean of reduce-scatter and
// all-gather; B: what a rank sends if all vectors go this way, for dense gradients as in an
// all-to-all. It is infinite where a group is one rank. Memory has the rate of kernels that it
// bounds.
//
// The price of a step is that of this plan with the model so placed: priced, lowered and simulated
// as every other step, and judged by its memory. Where some layers are recomputed, all are.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "lower/model_costs.h"
#include "lower/simulated_step.h"
#include "lower/stage_memory.h"
#include "model/family.h"
#include "model/recommendation/recommendation.h"
#include "plan/plan_rules.h"

namespace orrery {
namespace {

// The fields of a plan on which the placement of its tables depends; a search has many plans that
// differ only in others. Look-ups are recomputed only where whole layers are. Where the plan states
// the division of tables, the price of its step chooses nothing, so that ZeRO and recomputation do
// not matter.
Plan plan_of_placement(Plan plan) {
  plan.recompute_layers = 0;
  plan.recompute_modules.clear();
  const bool states = plan.table_sharding != TableSharding::automatic;
  if (states) plan.zero = 0;
  if (states || plan.recompute == Recompute::selective) plan.recompute = Recompute::none;
  return plan;
}

}  // namespace

const Model& CostCache::model_on_ranks(const Plan& plan) {
  if (is_on_ranks_) return model_;
  std::string key = to_text(plan_of_placement(plan));
  {
    const std::scoped_lock lock(mutex_);
    if (const auto it = on_ranks_.find(key); it != on_ranks_.end()) {
      return it->second ? *it->second : model_;
    }
  }
  // Outside the lock, as blocks are priced.
  std::optional<Model> divided = model_.family->on_ranks(model_, division(plan));
  auto made = divided ? std::make_unique<Model>(*std::move(divided)) : nullptr;
  const std::scoped_lock lock(mutex_);
  const auto it = on_ranks_.try_emplace(std::move(key), std::move(made)).first;
  return it->second ? *it->second : model_;
}

Division CostCache::division(const Plan& plan) {
  Division out = orrery::division(context_.cluster, training_, plan);
  const Recommender* tables = recommender_of(model_);
  if (tables == nullptr) return out;
  const RankLayout& groups = layout(plan);
  const Bytes vectors = out.element * static_cast<double>(plan.micro_batch) *
                        static_cast<double>(joined_width(*tables));
  const auto rate = [&](CollectiveKind kind, Bytes payload, const GroupShape& group) {
    return payload / (context_.communicate(kind, 2 * payload, group) -
                      context_.communicate(kind, payload, group));
  };
  const auto rates = [&](Bytes sums, const GroupShape& group) {
    const Seconds there = sums / rate(CollectiveKind::reduce_scatter, sums, group);
    const Seconds back = sums / rate(CollectiveKind::all_gather, sums, group);
    return ExchangeRates{rate(CollectiveKind::all_to_all, vectors, group),
                         2 * sums / (there + back)};
  };
  const auto ranks = static_cast<double>(plan.ep) / static_cast<double>(plan.tp);
  const double towers = static_cast<double>(plan.ep) / static_cast<double>(out.tower_ranks);
  out.between_all = rates(vectors * ranks, groups.ep);
  out.in_tower = rates(vectors * (ranks / towers), groups.tower);
  out.between_towers = rate(CollectiveKind::all_to_all, vectors, groups.tower_peers);
  out.dense_gradients = rate(CollectiveKind::all_reduce, vectors, groups.world);
  out.memory_bandwidth = context_.kernels.parameters().memory_bandwidth;
  out.step_price = [this, plan = plan_of_placement(plan)](const Model& on_ranks) {
    CostCache cache(on_ranks, training_, context_, BlockGraphs::dropped);
    cache.is_on_ranks_ = true;
    const StepCosts step = step_costs(cache, plan);
    // A step that cannot be run is refused when it is built, however tables lie.
    const Result<SimulatedStep> run = simulated(step, Folding::folded);
    return StepPrice{(run ? run->time : lower_bound(step)).seconds(), fits(step)};
  };
  return out;
}

}  // namespace orrery
