// What layers of experts launch, and what waiting for their counts costs.
#include "lower/expert_launches.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <utility>

#include "lower/random_plan.h"

namespace orrery {
namespace {

struct Priced {
  Priced(std::string_view text, NumberFormat precision, const SoftwareProfile& software)
      : model(small_model("deepseek-v2-lite", 4)),  // 64 experts, 6 for a token
        cluster(*parse_cluster("h100-sxm:8", Catalog::built_in())) {
    training.sequence_length = 4096;
    training.global_batch = 64;
    training.precision = precision;
    CompletedPlan completed = completed_plan(model, cluster, training, *parse_plan(text));
    training = completed.training;
    plan = completed.plan;
    cache.emplace(model, training, *cost_context(cluster, Catalog::built_in(), software));
  }
  BlockCost experts() { return cache->costs(plan, plan.recompute, Backward::fused).blocks.back(); }
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  std::optional<CostCache> cache;
};

BlockCost experts(std::string_view plan, const SoftwareProfile& software,
                  NumberFormat precision = NumberFormat::bf16) {
  return Priced(plan, precision, software).experts();
}

double kernels(Picoseconds time, const SoftwareProfile& software) {
  return time.seconds() / software.host.kernel;
}

// Eight experts a rank: two products forward and four backward, of each but the first one more; in
// mxfp8 as many casts of two operands forward and two backward.
TEST(ExpertLaunches, CountProductsAndCastsOfEveryExpert) {
  SoftwareProfile together;
  together.host.expert_launches = ExpertLaunches::together;
  const SoftwareProfile each;
  for (const auto& [precision, casts] :
       {std::pair{NumberFormat::bf16, 0}, {NumberFormat::fp8, 0}, {NumberFormat::mxfp8, 2}}) {
    const BlockCost few = experts("ep=8", together, precision);
    const BlockCost many = experts("ep=8", each, precision);
    EXPECT_NEAR(kernels(many.forward.host - few.forward.host, each), 7 * (2 + casts), 1e-6);
    EXPECT_NEAR(kernels(many.backward.host - few.backward.host, each), 7 * (4 + casts), 1e-6);
  }
}

TEST(ExpertLaunches, AnEagerRouterIsARowOfKernels) {
  SoftwareProfile fused;
  fused.router = Kernels::fused;
  const SoftwareProfile eager;
  const BlockCost one = experts("ep=8", fused);
  const BlockCost row = experts("ep=8", eager);
  EXPECT_NEAR(kernels(row.forward.host - one.forward.host, eager), 18 - 6, 1e-6);
  EXPECT_NEAR(kernels(row.backward.host - one.backward.host, eager), 10 - 4, 1e-6);
  EXPECT_GT(row.forward.breakdown[Category::router], one.forward.breakdown[Category::router]);
}

// The exchange is launched behind the counts. Where the host is too slow for one pass, the other has
// no lead to spare.
TEST(ExpertLaunches, CountsThatAreReadBackTakeTheLead) {
  SoftwareProfile waits;
  SoftwareProfile ahead;
  ahead.host.reads_counts = false;
  const BlockCost stopped = experts("ep=8", waits);
  const BlockCost free = experts("ep=8", ahead);
  EXPECT_NEAR((stopped.forward.time - free.forward.time).seconds() / waits.host.collective, 1,
              1e-6);
  EXPECT_EQ(stopped.backward.time, free.backward.time);

  for (const double microseconds : {10.0, 20.0, 40.0, 80.0}) {
    waits.host.kernel = ahead.host.kernel = Seconds(microseconds * 1e-6);
    const BlockCost late = experts("ep=8", waits);
    const BlockCost led = experts("ep=8", ahead);
    EXPECT_GE(late.forward.time, late.forward.host);
    EXPECT_GE(late.backward.time, late.backward.host);
    EXPECT_GE(late.forward.time + late.backward.time, led.forward.time + led.backward.time);
  }

  // Nothing is sent by a rank that holds all experts, and nothing is launched in a graph of the step.
  EXPECT_EQ(experts("ep=1", {}).forward.breakdown[Category::host], Picoseconds(0));
  SoftwareProfile graphs;
  graphs.host.launches = LaunchPath::graphs;
  EXPECT_EQ(experts("ep=8", graphs).forward.breakdown[Category::host], Picoseconds(0));
}

// A graph of attention, router and counts leaves the experts' launches to the host.
TEST(ExpertLaunches, GraphsOfPartsSpareTheHostTheirKernels) {
  SoftwareProfile graphs;
  graphs.host.graph_modules = {GraphModule::attention, GraphModule::router, GraphModule::counting};
  const SoftwareProfile eager;
  const BlockCost some = experts("ep=8", graphs);
  const BlockCost none = experts("ep=8", eager);
  EXPECT_LT(some.forward.host, none.forward.host);
  EXPECT_LT(some.backward.host, none.backward.host);
  EXPECT_GT(some.forward.host.seconds(),
            eager.host.product * 2 + eager.host.kernel * (2 * 8));  // the experts' two products
}

}  // namespace
}  // namespace orrery
