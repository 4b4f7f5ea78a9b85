#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "lower/model_costs.h"
#include "lower/priced_model.h"
#include "lower/simulated_step.h"
#include "lower/stage_memory.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/recommender.h"

namespace orrery {
namespace {

Recommender ranker() {
  Recommender r;
  r.name = "ranker";
  r.num_tables = 64;
  r.rows_per_table = 1'000'000;
  r.embedding_dim = 128;
  r.pooling = 10;
  r.bottom_mlp = {13, 512, 128};
  r.top_mlp = {8320, 512, 1};  // 64 tables and the bottom MLP, 128 wide
  r.interaction = Interaction::concatenation;
  return r;
}

// More of an exchange counts as what the collective takes longer for it, and as nothing where there
// is no exchange.
TEST(TableDivision, RatesAreThoseOfTheCollectives) {
  for (const auto& [cluster, degrees, ranks] :
       {std::tuple{"b200-sxm:8", "ep=8", 8}, std::tuple{"b200-sxm:16", "ep=16", 16},
        std::tuple{"a100-80gb-sxm:64", "ep=64", 64}}) {
    SCOPED_TRACE(cluster);
    constexpr std::int64_t kSamples = 1024;
    PricedModel priced(*build_model(ranker()), cluster, degrees, 1);
    priced.plan.micro_batch = kSamples;
    CostCache& cache = *priced.cache;
    const Division d = cache.division(priced.plan);
    const RankLayout& groups = cache.layout(priced.plan);
    const double vectors = 2.0 * kSamples * 64 * 128;
    const auto added = [&](CollectiveKind kind, double bytes, const GroupShape& group) {
      return (cache.context().communicate(kind, Bytes(2 * bytes), group) -
              cache.context().communicate(kind, Bytes(bytes), group))
          .value();
    };
    EXPECT_DOUBLE_EQ(vectors / d.between_all.vectors.value(),
                     added(CollectiveKind::all_to_all, vectors, groups.ep));
    EXPECT_NEAR(2 * ranks * vectors / d.between_all.sums.value(),
                added(CollectiveKind::reduce_scatter, ranks * vectors, groups.ep) +
                    added(CollectiveKind::all_gather, ranks * vectors, groups.ep),
                1e-12);
    EXPECT_DOUBLE_EQ(vectors / d.dense_gradients.value(),
                     added(CollectiveKind::all_reduce, vectors, groups.world));
    EXPECT_EQ(std::isinf(d.between_towers.value()), ranks == 8);
    // Kernels do not reach the rate of the datasheet.
    EXPECT_LT(d.memory_bandwidth, cache.context().cluster.accelerator.memory.bandwidth);
  }
}

// Placements are compared by the step of the plan, to the picosecond: lowered and simulated, with
// what ZeRO sends and recomputation computes again.
TEST(TableDivision, PlacementsAreComparedByTheStepOfThePlan) {
  for (const auto& [plan, samples] :
       {std::pair{"ep=16,zero=0", 1024}, std::pair{"ep=16,zero=2", 1024},
        std::pair{"ep=16,zero=3,recompute=full", 1024}, std::pair{"ep=16,tp=2,zero=1", 512}}) {
    SCOPED_TRACE(plan);
    PricedModel priced(*build_model(ranker()), "h100-sxm:16", plan, 1);
    priced.training.global_batch = 16384;
    priced.plan.micro_batch = samples;
    CostCache& cache = *priced.cache;
    const StepCosts step = step_costs(cache, priced.plan);
    const auto run = simulated(step, Folding::folded);
    ASSERT_TRUE(run);
    const StepPrice price =
        cache.division(priced.plan).step_price(cache.model_on_ranks(priced.plan));
    EXPECT_EQ(price.time, run->time.seconds());
    EXPECT_EQ(price.fits, fits(step));
    EXPECT_TRUE(price.fits);
  }
}

}  // namespace
}  // namespace orrery
