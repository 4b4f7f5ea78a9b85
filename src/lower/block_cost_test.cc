// What a block costs: its two directions, and a backward split in two.
#include "lower/block_cost.h"

#include <gtest/gtest.h>

#include "lower/random_plan.h"

namespace orrery {
namespace {

// Time of kernels by what they compute, without communication and the slowing by it.
Picoseconds kernels(const BlockPass& pass) {
  return pass.computing() - pass.breakdown[Category::contention];
}

struct Priced {
  Priced(Model m, const char* on, std::string_view text, std::int64_t sequence,
         NumberFormat precision = NumberFormat::bf16)
      : model(std::move(m)), cluster(*parse_cluster(on, Catalog::built_in())) {
    training.sequence_length = sequence;
    training.global_batch = cluster.accelerators;
    training.precision = precision;
    CompletedPlan completed = completed_plan(model, cluster, training, *parse_plan(text));
    training = completed.training;
    plan = completed.plan;
    cache.emplace(model, training, *cost_context(cluster, Catalog::built_in()));
  }
  const ModelCosts& costs(Backward backward) {
    return cache->costs(plan, plan.recompute, backward);
  }
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  std::optional<CostCache> cache;
};

TEST(SplitBackward, IsNotPricedUnlessAskedFor) {
  Priced p(small_model("llama-3-8b", 4), "h100-sxm:8", "tp=2", 2048);
  EXPECT_EQ(p.costs(Backward::fused).blocks[0].weight_gradient.time, Picoseconds(0));
  EXPECT_EQ(p.costs(Backward::fused).before[4].input_gradient, Picoseconds(0));
  EXPECT_GT(p.costs(Backward::split).blocks[0].weight_gradient.time, Picoseconds(0));
  EXPECT_EQ(p.costs(Backward::split).blocks[0].backward.time,
            p.costs(Backward::fused).blocks[0].backward.time);
}

// The same kernels, whatever is computed again and however the model is divided. Cutting products
// in pieces changes their efficiency, so tensor-parallel overlap is left out.
TEST(SplitBackward, HalvesComputeWhatTheWholeDoes) {
  for (const char* model : {"llama-3-8b", "gpt-3-1.3b", "mixtral-8x7b", "deepseek-v2-lite"}) {
    for (const char* plan :
         {"tp=1", "tp=4", "tp=4,sequence_parallel=false", "cp=2", "tp=2,recompute=full",
          "tp=2,recompute=selective", "cp=2,context_parallel=ring"}) {
      Priced p(small_model(model, 4), "h100-sxm:8", plan, 2048);
      const ModelCosts& costs = p.costs(Backward::split);
      for (const BlockCost* block : {&costs.blocks[0], &costs.blocks.back(), &costs.head}) {
        EXPECT_EQ(kernels(block->input_gradient) + kernels(block->weight_gradient),
                  kernels(block->backward))
            << model << " " << plan;
      }
    }
  }
}

TEST(SplitBackward, WithoutCommunicationTimesAddUp) {
  for (const char* plan : {"tp=1", "recompute=full", "recompute=selective"}) {
    Priced p(small_model("llama-3-8b", 8), "h100-sxm:1", plan, 4096);
    const PassTotals all = p.costs(Backward::split).before[8];
    EXPECT_EQ(all.input_gradient + all.weight_gradient, all.backward) << plan;
    const BlockCost& block = p.costs(Backward::split).blocks[0];
    EXPECT_EQ(block.weight_gradient.breakdown[Category::recompute], Picoseconds(0)) << plan;
    EXPECT_EQ(block.input_gradient.breakdown[Category::recompute],
              block.backward.breakdown[Category::recompute])
        << plan;
  }
}

// arXiv 2401.10241 s.2.3: 24 s b h^2 FLOPs of weight gradient against 24 s b h^2 + 8 s^2 b h of
// input gradient, so a weight gradient takes less time; 32 s b h bytes are kept between the two.
TEST(SplitBackward, MemoryBetweenTheHalvesIsThatOfThePaper) {
  Priced p(small_model("gpt-3-175b", 2), "a100-80gb-sxm:8", "tp=1,micro_batch=2", 2048);
  const BlockCost& block = p.costs(Backward::split).blocks[0];
  const double sbh = 2048.0 * 2 * 12288;
  EXPECT_DOUBLE_EQ(block.saved_for_weight_gradient.value(), 32 * sbh);
  EXPECT_LT(block.saved_for_weight_gradient, block.saved);
  EXPECT_LT(block.weight_gradient.time, block.input_gradient.time);
}

// Under sequence parallelism inputs of column products stay cut; gradients of row products' outputs
// stay gathered: per tp rank 2 x 2sbh/t (cut inputs) + 10sbh/t (inputs of row products) + 14sbh/t
// (gradients of column outputs) + 4sbh (gradients of row outputs).
TEST(SplitBackward, SequenceParallelKeepsGatheredOutputGradients) {
  Priced p(small_model("gpt-3-175b", 2), "a100-80gb-sxm:8", "tp=8,micro_batch=1", 2048);
  const double sbh = 2048.0 * 12288;
  EXPECT_DOUBLE_EQ(p.costs(Backward::split).blocks[0].saved_for_weight_gradient.value(),
                   28 * sbh / 8 + 4 * sbh);
}

// With the gathered input hidden behind the product before it, only the first gather of the weight
// gradients is exposed.
TEST(SplitBackward, GathersRunBesideTheProductBefore) {
  Priced p(small_model("gpt-3-175b", 2), "a100-80gb-sxm:8", "tp=8,micro_batch=1", 2048);
  const BlockCost& block = p.costs(Backward::split).blocks[0];
  EXPECT_LT(block.weight_gradient.breakdown[Category::exposed_tp],
            block.input_gradient.breakdown[Category::exposed_tp]);
}

TEST(SplitBackward, NarrowOperandsAreKeptNarrow) {
  Priced wide(small_model("llama-3-8b", 2), "h100-sxm:8", "tp=1", 2048);
  Priced narrow(small_model("llama-3-8b", 2), "h100-sxm:8", "tp=1", 2048, NumberFormat::fp8);
  const Bytes a = wide.costs(Backward::split).blocks[0].saved_for_weight_gradient;
  const Bytes b = narrow.costs(Backward::split).blocks[0].saved_for_weight_gradient;
  EXPECT_LT(b, a);
  EXPECT_GE(b, a / 2);
}

}  // namespace
}  // namespace orrery
