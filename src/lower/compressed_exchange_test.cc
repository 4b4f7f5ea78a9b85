// What ZeRO++ and local steps send, against the volumes of their papers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "lower/price.h"
#include "lower/random_plan.h"
#include "lower/stage_memory.h"
#include "lower/step_costs.h"
#include "lower/step_graph.h"
#include "lower/step_window.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

struct ComparedPlan {
  RandomCase c;
  CostCache cache;
  StepCosts costs;
  explicit ComparedPlan(const char* plan, const char* model = "gpt-3-1.3b")
      : c(stated_case(small_model(model, 4), "h100-sxm:32", plan, 2048, 64)),
        cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in())),
        costs(step_costs(cache, c.plan)) {
    for (const auto& p : plan_problems(c.model, c.cluster, c.training, c.plan)) ADD_FAILURE() << p;
  }
  // Bytes that the ranks of a node send to other nodes in these parts, together.
  [[nodiscard]] double between_nodes(const OperationParts& parts) const {
    double sum = 0;
    for (const OperationPart& part : parts) {
      const auto& communication = std::get<Communication>(part.what);
      const GroupShape& group = costs.layout->groups[communication.group.value()].shape;
      if (group.size == group.members.front()) continue;  // one node
      const double nodes = static_cast<double>(group.size) / group.members.front();
      // A ring crosses once; of all-to-alls what each of the eight ranks of a node has.
      const bool each = communication.collective == CollectiveKind::all_to_all;
      sum += communication.payload.value() * (nodes - 1) / nodes * (each ? 8 : 1);
    }
    return sum;
  }
};

// arXiv 2306.10209 table 1: between nodes M forward, M backward and M of gradients of 16-bit
// weights, M bytes; with qwZ, hpZ and qgZ 0.5 M, 0 and 0.25 M.
TEST(CompressedExchange, ZeroPlusPlusSendsAQuarterBetweenNodes) {
  const ComparedPlan plain("zero=3");
  const ComparedPlan all("zero=3,quantized_weights=on,quantized_gradients=on,secondary_shard=8");
  const RankParameters p{.dense = 1e9};
  const RankParameters none;
  const auto gathered = [&](const ComparedPlan& of, Gather pass) {
    return of.between_nodes(of.costs.gather_parts(p, none, pass));
  };
  const double m = 2e9 * 3 / 4;  // of 16 bits, among four nodes
  EXPECT_DOUBLE_EQ(gathered(plain, Gather::forward), m);
  EXPECT_DOUBLE_EQ(gathered(plain, Gather::backward), m);
  EXPECT_DOUBLE_EQ(gathered(all, Gather::forward), 0.5 * m);
  EXPECT_DOUBLE_EQ(gathered(all, Gather::backward), 0);
  EXPECT_DOUBLE_EQ(all.between_nodes(all.costs.reduce_parts(p)), 0.25 * m);
  EXPECT_DOUBLE_EQ(plain.between_nodes(plain.costs.reduce_parts(p)), 2 * m);  // fp32 gradients
}

TEST(CompressedExchange, TheSecondCopyTakesMemory) {
  const ComparedPlan plain("zero=3");
  const ComparedPlan second("zero=3,secondary_shard=8");
  const double weights = trained_parameters(plain.c.model) * 2 / 8;
  EXPECT_NEAR(static_cast<double>(stage_memory(second.costs, 0).parameters -
                                  stage_memory(plain.costs, 0).parameters),
              weights, 0.01 * weights);
}

// 1/H of an all-reduce of fp32 weights among the copies and of an update of 28 bytes; all other
// communication stays in a copy.
TEST(CompressedExchange, LocalStepsAverageOnceInH) {
  const ComparedPlan local("zero=1,shard_group=8,local_steps=100");
  const double owned = trained_parameters(local.c.model) / 8;
  const CostContext& context = local.cache.context();
  const auto& groups = local.costs.layout->groups;
  const Seconds once = context.communicate(CollectiveKind::all_reduce, Bytes(4 * owned),
                                           groups[index(StepGroup::replica_copies).value()].shape);
  const auto parts = local.costs.outer_parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_NEAR(price(parts[0].what, groups, context) / once, 0.01, 1e-9);
  EXPECT_DOUBLE_EQ(local.between_nodes(local.costs.reduce_parts({.dense = 1e9})), 0);
  const ComparedPlan every("zero=1,shard_group=8");
  EXPECT_GT(every.between_nodes(every.costs.reduce_parts({.dense = 1e9})), 0);
  // What the copies last agreed on, and the outer momentum: 8 bytes more of each owned parameter.
  EXPECT_NEAR(static_cast<double>(stage_memory(local.costs, 0).optimizer_states) /
                  static_cast<double>(stage_memory(every.costs, 0).optimizer_states),
              20.0 / 12, 1e-6);
}

// In a step nothing leaves a copy: neither gradients of experts nor those in few bits, nor the norm.
TEST(CompressedExchange, LocalStepsStayInACopy) {
  const std::pair<const char*, const char*> cases[] = {
      {"zero=1", "gpt-3-1.3b"},
      {"zero=3,quantized_gradients=on", "gpt-3-1.3b"},
      {"zero=1,ep=4", "mixtral-8x7b"},
      {"zero=3,ep=8", "mixtral-8x7b"}};
  for (const auto& [plan, model] : cases) {
    const std::string local = std::string(plan) + ",shard_group=8,local_steps=100";
    const ComparedPlan p(local.c_str(), model);
    const RankParameters some = {.dense = 1e9, .expert = p.c.model.experts > 0 ? 1e9 : 0};
    EXPECT_EQ(p.between_nodes(p.costs.reduce_parts(some)), 0) << local;
    EXPECT_EQ(p.between_nodes(p.costs.gradient_norm_parts()), 0) << local;
    const OperationParts outer = p.costs.outer_parts();
    EXPECT_EQ(outer.size(), p.c.model.experts > 0 ? 3U : 2U) << local;
    EXPECT_GT(p.between_nodes({outer.front()}), 0) << local;
  }
}

// 8-bit gradients are a quarter of fp32 (arXiv 1511.04561); -1, 0 and 1 are 32 / log2(3) = 20.2 times
// less on the way to the rank that adds them up (arXiv 1705.07878 s.3.1).
TEST(CompressedExchange, CodedGradientsSendWhatTheirCodesHold) {
  const RankParameters p{.dense = 1e9};
  const ComparedPlan plain("zero=1");
  const ComparedPlan bytes("zero=1,gradient_code=eight-bit");
  const ComparedPlan ternary("zero=1,gradient_code=ternary");
  const auto sent = [&](const ComparedPlan& of) {
    return of.between_nodes(of.costs.reduce_parts(p));
  };
  EXPECT_DOUBLE_EQ(sent(plain) / sent(bytes), 4);
  EXPECT_NEAR(sent(plain) / sent(ternary), 20.2, 0.02);
  // Shards of the sum stay: what a node adds up, and the codes.
  EXPECT_EQ(bytes.costs.reduce_parts(p).size(), 2U);
  // Replicas that keep all gradients get the sum of four nodes back: log2(9) bits, of an eighth each.
  const ComparedPlan whole("zero=0,gradient_code=ternary");
  const OperationParts parts = whole.costs.reduce_parts(p);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_NEAR(std::get<Communication>(parts[2].what).payload.value() / 1e9, std::log2(9) / 8 / 8,
              1e-9);
  // Read and written by kernels: g + 2 c, and c' (1 + 1/4) + g to decode all, or g/4 of a shard.
  EXPECT_NEAR(bytes.costs.copied_reduced({.dense = 8}).value(), 4 + 2 + 4.0 / 4, 1e-12);
  const ComparedPlan all("zero=0,gradient_code=eight-bit");
  EXPECT_NEAR(all.costs.copied_reduced({.dense = 8}).value(), 4 + 2 + 1 + 1.0 / 4 + 4, 1e-12);
}

// Experts' gradients travel whole, and so are coded whole: 4 bytes read, 1 written, 1 read of each, and
// a shard written; those of dense weights an eighth on each rank of a node.
TEST(CompressedExchange, CodedGradientsOfExpertsAreWhole) {
  const ComparedPlan p("zero=1,ep=4,gradient_code=eight-bit", "mixtral-8x7b");
  ASSERT_EQ(p.costs.layout->expert_shard.size, 8);
  EXPECT_NEAR(p.costs.copied_reduced({.expert = 8}).value(), 8 * (4 + 2 + 4.0 / 8), 1e-9);
  EXPECT_NEAR(p.costs.copied_reduced({.dense = 8}).value(), 4 + 2 + 4.0 / 4, 1e-9);
  const ComparedPlan own("zero=1,ep=8,tp=4,etp=4,gradient_code=eight-bit", "mixtral-8x7b");
  ASSERT_EQ(own.costs.layout->expert_shard.size, 1);
  EXPECT_EQ(own.costs.copied_reduced({.expert = 8}).value(), 0);
}

// Of two copies a ring has one neighbour.
TEST(CompressedExchange, TwoCopiesOfARingAverageOnce) {
  const auto price_of = [](const char* how) {
    const ComparedPlan p(
        (std::string("zero=1,local_steps=1,shard_group=16,averaging=") + how).c_str());
    return p.costs.outer;
  };
  EXPECT_EQ(price_of("ring"), price_of("one-peer"));
}

// A copy sends what it owns once to each neighbour; of the ring of an all-gather that is one step.
TEST(CompressedExchange, NeighboursTakeNoMoreForMoreCopies) {
  const auto averaging = [](const char* how, const char* group) {
    const ComparedPlan p(
        (std::string("zero=1,local_steps=1,shard_group=") + group + ",averaging=" + how).c_str());
    const auto& groups = p.costs.layout->groups;
    return price(p.costs.outer_parts().front().what, groups, p.cache.context());
  };
  const Seconds one = averaging("one-peer", "8");
  EXPECT_NEAR(averaging("ring", "8") / one, 2, 1e-9);
  const ComparedPlan all("zero=1,local_steps=2,shard_group=8");
  const Seconds together =
      price(all.costs.outer_parts().front().what, all.costs.layout->groups, all.cache.context()) *
      2;
  EXPECT_LT(one, together);
  // 4 bytes of each parameter once over the network of 50 GB/s a rank, at least.
  const double owned = trained_parameters(all.c.model) / 8;
  EXPECT_GT(one, Bytes(4 * owned) / BytesPerSecond(50e9));
  EXPECT_LT(one, Bytes(4 * owned) / BytesPerSecond(50e9) * 2);
}

// Buckets reduce what layers do, in more or in fewer parts; one as large as the model begins when the
// backward is over.
TEST(CompressedExchange, BucketsReduceTheSameGradients) {
  const auto reduced = [](const char* plan) {
    const ComparedPlan p(plan);
    const StepGraph step = *step_graph(p.costs, Folding::folded);
    double sum = 0;
    for (std::size_t i = 0; i < step.graph.size(); ++i) {
      const Operation& operation = step.graph.operation(NodeIndex(i));
      for (const OperationPart& part : operation.parts) {
        const auto* c = std::get_if<Communication>(&part.what);
        if (c != nullptr && c->group == index(StepGroup::replicas) && c->payload > Bytes(1e3) &&
            c->collective == CollectiveKind::all_reduce) {
          sum += c->payload.value() * c->times;
        }
      }
    }
    return std::pair(sum, simulate(step.graph).makespan);
  };
  const auto layers = reduced("zero=0");
  const auto small = reduced("zero=0,gradient_bucket_mib=25");
  const auto large = reduced("zero=0,gradient_bucket_mib=100000");
  EXPECT_NEAR(small.first / layers.first, 1, 1e-9);
  EXPECT_NEAR(large.first / layers.first, 1, 1e-9);
  EXPECT_GT(large.second, layers.second);
  EXPECT_NEAR(layers.first, 4 * trained_parameters(small_model("gpt-3-1.3b", 4)),
              0.01 * layers.first);
}

TEST(CompressedExchange, AveragingBesideTheStepIsHidden) {
  const auto time = [](const char* plan) {
    const ComparedPlan p(plan);
    const StepGraph step = *step_graph(p.costs, Folding::folded);
    const auto timeline = simulate(step.graph);
    const Picoseconds out = step_time(windows(p.costs, step, timeline));
    EXPECT_LE(lower_bound(p.costs), out) << plan;
    const auto expanded = step_graph(p.costs, Folding::expanded);
    EXPECT_EQ(simulate(expanded->graph).makespan, timeline.makespan) << plan;
    return out;
  };
  const Picoseconds exposed = time("zero=1,shard_group=8,local_steps=10");
  const Picoseconds hidden = time("zero=1,shard_group=8,local_steps=10,overlap.outer=on");
  const Picoseconds rare = time("zero=1,shard_group=8,local_steps=1000");
  EXPECT_LT(hidden, exposed);
  EXPECT_LT(rare, exposed);
  time("zero=3,quantized_weights=on,quantized_gradients=on,secondary_shard=8");
}

}  // namespace
}  // namespace orrery
