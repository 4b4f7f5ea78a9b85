// What decides where embedding tables lie (model/recommendation/table_placement.h): rates, by which
// the planner divides them, and the time of a step, by which it chooses among the placements that
// it has made in different ways. Both are prices of the step's own cost model.
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
// The time of a step is that of forward and backward of its blocks without recomputation, of the
// all-reduces of their dense gradients, each of which begins when the backward of its layer and the
// all-reduce before have ended, and of the optimizer, which also sets the gradients to zero
// (StepCosts::optimizer_parts). All of this is as without ZeRO, so that tables lie alike under all
// of its stages, and nothing is slowed by the all-reduces beside it.
#include <algorithm>

#include "lower/model_costs.h"
#include "lower/optimizer_bytes.h"
#include "lower/price.h"
#include "model/recommendation/recommendation.h"
#include "plan/plan_rules.h"

namespace orrery {

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
  out.step_time = [this, plan, trains = out.trains](const Model& held) {
    BlockSetting setting = this->setting(plan);
    std::vector<BlockCost> blocks;
    for (const Block& block : held.blocks) {
      blocks.push_back(block_cost(block, setting, Recompute::none));
    }
    setting.layer = false;
    const BlockCost head = block_cost(held.head, setting, Recompute::none);
    Picoseconds computed = head.forward.time + head.backward.time;
    for (const std::uint16_t block : held.layers) computed += blocks[block].forward.time;
    if (!trains) return computed.seconds();
    const Bytes gradient = element_size(training_.gradients);
    Seconds reduced;
    double dense = 0;
    for (std::size_t i = held.layers.size(); i-- > 0;) {
      const BlockCost& block = blocks[held.layers[i]];
      computed += block.backward.time;
      reduced = std::max(reduced, computed.seconds()) +
                context_.communicate(CollectiveKind::all_reduce, gradient * block.trained.dense,
                                     setting.layout.world);
      dense += block.trained.dense;
    }
    // The update, which also sets the gradient to zero, as StepCosts::optimizer_parts does.
    const Bytes moved = optimizer_bytes(training_, context_.software, gradient) + gradient;
    return reduced + price(memory_bound(moved * dense), context_);
  };
  return out;
}

}  // namespace orrery
