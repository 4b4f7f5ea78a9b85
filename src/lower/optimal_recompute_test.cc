// Optimal recomputation against all plans of its settings, and against its bound.
#include "lower/optimal_recompute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "lower/random_plan.h"
#include "lower/stage_memory.h"

namespace orrery {
namespace {

double fullest(const StepCosts& step) {
  double most = 0;
  for (int d = 0; d < step.shape.devices; ++d) {
    most = std::max(most, static_cast<double>(stage_memory(step, d).peak));
  }
  return most;
}

// Some of the plans that it chooses from: everything kept, everything made again, and a few sets of
// modules in any number of layers.
std::vector<Plan> some_plans(const Plan& kept) {
  std::vector<Plan> out = {kept};
  for (std::int64_t layers = 0; layers <= 8; ++layers) {
    Plan plan = kept;
    plan.recompute_layers = layers;
    plan.recompute = Recompute::full;
    out.push_back(plan);
    plan.recompute = Recompute::selective;
    using enum RecomputeModule;
    for (const std::vector<RecomputeModule>& modules :
         {std::vector{core_attn}, std::vector{layernorm}, std::vector{mlp_act}, std::vector{mlp},
          std::vector{core_attn, layernorm, mlp_act}, std::vector{layernorm, mlp}}) {
      plan.recompute_modules = modules;
      out.push_back(plan);
    }
  }
  return out;
}

// Memories from what everything kept needs down to less than the least.
TEST(OptimalRecompute, IsTheBestOfItsPlansInAnyMemory) {
  int recomputing = 0;
  for (const char* text : {"tp=2,pp=2,micro_batch=4", "zero=3,micro_batch=8", "pp=4,tp=2"}) {
    RandomCase c = stated_case(small_model("gpt-3-1.3b", 8), "h100-sxm:8", text, 2048, 64);
    const std::vector<Plan> others = some_plans(c.plan);
    double least = 1e18;
    double everything = 0;
    {
      CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
      everything = fullest(step_costs(cache, c.plan));
      for (const Plan& plan : others) least = std::min(least, fullest(step_costs(cache, plan)));
    }
    for (const double part : {1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.001}) {
      const double memory = std::ceil(least + part * (everything - least));
      c.cluster.accelerator.memory.capacity = Bytes(memory);
      CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
      Plan asked = c.plan;
      asked.recompute = Recompute::optimal;
      const OptimalRecompute best = optimal_recompute(cache, asked);
      const StepCosts own = step_costs(cache, best.plan);
      EXPECT_LE(fullest(own), memory) << to_text(best.plan);
      for (const Plan& plan : others) {
        const StepCosts step = step_costs(cache, plan);
        if (fullest(step) > memory) continue;
        EXPECT_LE(lower_bound(own), lower_bound(step)) << to_text(plan);
      }
      ASSERT_TRUE(best.bound);
      EXPECT_LE(*best.bound, best.added) << to_text(best.plan);
      if (best.plan.recompute != Recompute::none) ++recomputing;
      EXPECT_EQ(best.plan.recompute == Recompute::none, part == 1.0);
    }
    c.cluster.accelerator.memory.capacity = Bytes(0.5 * least);
    CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
    const OptimalRecompute none = optimal_recompute(cache, c.plan);
    EXPECT_EQ(none.plan.recompute, Recompute::full);
    EXPECT_FALSE(none.bound);
  }
  EXPECT_EQ(recomputing, 18);
}

// What it chooses is valid beside tiles, which make the feed-forward part again themselves.
TEST(OptimalRecompute, ChoosesValidPlansBesideTiles) {
  std::mt19937 random(20261126);
  int chosen = 0;
  for (int draw = 0; draw < 3000 && chosen < 60; ++draw) {
    auto c = random_case(random);
    if (!c || c->training.workload == Workload::forward) continue;
    c->plan.mlp_tiles = 4;
    c->plan.recompute_modules.clear();
    c->plan.recompute_layers = 0;
    c->plan.recompute = Recompute::optimal;
    if (!plan_problems(c->model, c->cluster, c->training, c->plan).empty()) continue;
    for (const double gib : {1.0, 4.0, 16.0}) {
      c->cluster.accelerator.memory.capacity = Bytes(gib * 1024 * 1024 * 1024);
      CostCache cache(c->model, c->training, *cost_context(c->cluster, Catalog::built_in()));
      const Plan plan = optimal_recompute(cache, c->plan).plan;
      EXPECT_TRUE(plan_problems(c->model, c->cluster, c->training, plan).empty()) << to_text(plan);
    }
    ++chosen;
  }
  EXPECT_GT(chosen, 10);
}

// Less memory never costs less computing, and never has a lower bound.
TEST(OptimalRecompute, CostsMoreInLessMemory) {
  RandomCase c = stated_case(small_model("gpt-3-1.3b", 8), "h100-sxm:8", "micro_batch=4", 2048, 64);
  Picoseconds bound;
  for (const double gib : {80, 40, 36, 33, 31, 29, 28}) {
    c.cluster.accelerator.memory.capacity = Bytes(gib * 1024 * 1024 * 1024);
    CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
    const OptimalRecompute best = optimal_recompute(cache, c.plan);
    if (!best.bound) break;
    EXPECT_GE(*best.bound, bound) << gib;
    bound = *best.bound;
  }
}

}  // namespace
}  // namespace orrery
