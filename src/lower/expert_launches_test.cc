// What layers of experts launch, and what waiting for their counts costs.
#include "lower/expert_launches.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lower/priced_model.h"
#include "lower/random_plan.h"
#include "lower/rank_layout.h"

namespace orrery {
namespace {

// 64 experts, 6 for a token.
struct LayerOfExperts : PricedModel {
  LayerOfExperts(std::string_view text, NumberFormat precision, const SoftwareProfile& software)
      : PricedModel(small_model("deepseek-v2-lite", 4), "h100-sxm:8", text, 4096, precision,
                    software) {}
  BlockCost experts(Backward backward = Backward::fused) { return all(backward).back(); }
  const std::vector<BlockCost>& all(Backward backward = Backward::fused) {
    return costs(backward).blocks;
  }
};

BlockCost experts(std::string_view plan, const SoftwareProfile& software,
                  NumberFormat precision = NumberFormat::bf16) {
  return LayerOfExperts(plan, precision, software).experts();
}

double kernels(Picoseconds time, const SoftwareProfile& software) {
  return time.seconds() / software.host.kernel;
}

// Eight experts a rank: two products forward and four backward, of each but the first one more; and
// as many casts of two operands forward and two backward, unless one kernel makes them all.
TEST(ExpertLaunches, CountProductsAndCastsOfEveryExpert) {
  struct Counted {
    NumberFormat precision;
    Fp8Scaling scaling;
    int casts;  // kernels
  };
  for (const Counted& c : {Counted{NumberFormat::bf16, Fp8Scaling::delayed, 0},
                           {NumberFormat::fp8, Fp8Scaling::delayed, 0},
                           {NumberFormat::fp8, Fp8Scaling::current, 2 * 4},
                           {NumberFormat::fp8, Fp8Scaling::blocks, 2},
                           {NumberFormat::mxfp8, Fp8Scaling::delayed, 2},
                           {NumberFormat::mxfp8, Fp8Scaling::current, 2}}) {
    SoftwareProfile each;
    each.fp8_scaling = c.scaling;
    SoftwareProfile together = each;
    together.host.expert_launches = ExpertLaunches::together;
    const BlockCost few = experts("ep=8", together, c.precision);
    const BlockCost many = experts("ep=8", each, c.precision);
    EXPECT_NEAR(kernels(many.forward.host - few.forward.host, each), 7 * (2 + c.casts), 1e-6);
    EXPECT_NEAR(kernels(many.backward.host - few.backward.host, each), 7 * (4 + c.casts), 1e-6);
  }
}

// One kernel that reads the rows of all experts where they are.
TEST(ExpertLaunches, ScatteredProductsAreOneWhateverTheProfileSays) {
  SoftwareProfile together;
  together.host.expert_launches = ExpertLaunches::together;
  const BlockCost each = experts("ep=1,expert_products=scattered", {});
  const BlockCost one = experts("ep=1,expert_products=scattered", together);
  EXPECT_EQ(each.forward.host, one.forward.host);
  EXPECT_EQ(each.backward.host, one.backward.host);
  const BlockCost grouped = experts("ep=1", {});
  EXPECT_GT(kernels(grouped.forward.host - each.forward.host, {}), 2 * 63);
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

  // Nothing is launched in a graph of the step.
  SoftwareProfile graphs;
  graphs.host.launches = LaunchPath::graphs;
  EXPECT_EQ(experts("ep=8", graphs).forward.breakdown[Category::host], Picoseconds(0));
}

// A rank that holds all experts sends nothing, but launches the product of each by its count.
TEST(ExpertLaunches, CountsAreReadWithoutAnExchangeWhereProductsAreLaunchedSingly) {
  const SoftwareProfile each;
  SoftwareProfile together;
  together.host.expert_launches = ExpertLaunches::together;
  for (const auto& [software, reads] : {std::pair{each, true}, {together, false}}) {
    LayerOfExperts priced("ep=1", NumberFormat::bf16, software);
    const RankLayout layout = rank_layout(priced.plan, priced.cluster);
    const CostContext costs = *cost_context(priced.cluster, Catalog::built_in(), software);
    const BlockSetting setting{binding(priced.model, priced.training, priced.plan),
                               2048,
                               priced.plan,
                               priced.training,
                               layout,
                               costs};
    const Block& block = priced.model.blocks.back();
    EXPECT_EQ(reads_counts(block, setting), reads);
    EXPECT_FALSE(reads_counts(priced.model.blocks.front(), setting));  // a dense layer
    priced.training.expert_load = {.capacity_factor = 1.25, .padded = true};
    EXPECT_FALSE(reads_counts(block, setting));
  }
}

// Finding the greatest magnitude reads an operand once more and takes three kernels more, on the
// device as well.
TEST(ExpertLaunches, CurrentScalingTakesTheDeviceLonger) {
  const auto computing = [](Fp8Scaling scaling) {
    SoftwareProfile software;
    software.fp8_scaling = scaling;
    software.host.launches = LaunchPath::graphs;
    return experts("ep=8", software, NumberFormat::fp8).forward.computing();
  };
  EXPECT_GT(computing(Fp8Scaling::current), computing(Fp8Scaling::blocks));
  EXPECT_GT(computing(Fp8Scaling::blocks), computing(Fp8Scaling::delayed));
}

// A backward that dispatches again reads counts again, before its input gradients.
TEST(ExpertLaunches, ARecomputedDispatchTakesTheLead) {
  int later = 0;
  for (double microseconds = 5; microseconds < 200; microseconds *= 1.3) {
    const auto halves = [&](bool reads_counts) {
      SoftwareProfile software;
      software.host.kernel = Seconds(microseconds * 1e-6);
      software.host.reads_counts = reads_counts;
      const BlockCost cost = LayerOfExperts("ep=8,recompute=full", NumberFormat::bf16, software)
                                 .experts(Backward::split);
      return cost.input_gradient.time + cost.weight_gradient.time;
    };
    EXPECT_GE(halves(true), halves(false));
    if (halves(true) > halves(false)) ++later;
  }
  EXPECT_GT(later, 0);
}

// Of a split backward neither half waits for counts.
TEST(ExpertLaunches, HalvesOfABackwardKeepTheirLead) {
  for (const double microseconds : {10.0, 20.0, 40.0, 80.0}) {
    SoftwareProfile waits;
    waits.host.kernel = Seconds(microseconds * 1e-6);
    SoftwareProfile ahead = waits;
    ahead.host.reads_counts = false;
    const BlockCost stopped =
        LayerOfExperts("ep=8", NumberFormat::bf16, waits).experts(Backward::split);
    const BlockCost free =
        LayerOfExperts("ep=8", NumberFormat::bf16, ahead).experts(Backward::split);
    EXPECT_EQ(stopped.input_gradient.time, free.input_gradient.time);
    EXPECT_EQ(stopped.weight_gradient.time, free.weight_gradient.time);
  }
}

// Attention is captured in every layer, the rest only where there are experts.
TEST(ExpertLaunches, GraphsOfAttentionAreThoseOfDenseLayersToo) {
  const auto dense = [](const std::vector<GraphModule>& modules) {
    SoftwareProfile software;
    software.host.graph_modules = modules;
    return LayerOfExperts("ep=8", NumberFormat::bf16, software).all().front().forward.host;
  };
  EXPECT_LT(dense({GraphModule::attention}), dense({}));
  EXPECT_EQ(dense({GraphModule::router, GraphModule::counting}), dense({}));
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
  // The layer has one graph, whatever it holds, and the shared expert is in it.
  graphs.host.graph_modules = {GraphModule::router};
  const BlockCost routed = experts("ep=8", graphs);
  EXPECT_GE(
      (none.forward.host - routed.forward.host).seconds(),
      (eager.host.product + eager.host.kernel) * 2);  // router and shared expert, less a graph
  const BlockCost beside = experts("ep=8,overlap.expert=on", graphs);
  EXPECT_GT(beside.forward.host, routed.forward.host);
  EXPECT_GT(some.forward.host.seconds(),
            eager.host.product * 2 + eager.host.kernel * (2 * 8));  // the experts' two products
}

}  // namespace
}  // namespace orrery
