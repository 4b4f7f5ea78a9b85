// Permutations around an exchange, counted by hand.
#include "lower/expert_exchange.h"

#include <gtest/gtest.h>

#include "lower/price.h"
#include "lower/random_plan.h"

namespace orrery {
namespace {

struct Case {
  explicit Case(std::string_view plan_text)
      : model(small_model("deepseek-v2-lite", 4)),  // 64 experts, 6 for a token
        cluster(*parse_cluster("h100-sxm:64", Catalog::built_in())),
        costs(*cost_context(cluster, Catalog::built_in())) {
    training.sequence_length = 4096;
    training.global_batch = 64;
    CompletedPlan completed = completed_plan(model, cluster, training, *parse_plan(plan_text));
    training = completed.training;
    plan = completed.plan;
    layout = rank_layout(plan, cluster);
  }
  [[nodiscard]] BlockSetting setting() const {
    return {binding(model, training, plan), 2048, plan, training, layout, costs};
  }
  [[nodiscard]] const Block& block() const { return model.blocks.back(); }
  [[nodiscard]] const Operator& dispatch() const {
    for (const Operator& op : block().operators) {
      if (op.boundary == Boundary::dispatch) return op;
    }
    return block().operators.front();
  }
  [[nodiscard]] double passes(Direction direction = Direction::forward) const {
    return permutation_work(block(), dispatch(), setting(), direction).passes;
  }
  [[nodiscard]] double seconds(Way way) const {
    Seconds sum;
    for (const Communication& c : token_communications(block(), dispatch(), setting(), way)) {
      sum += price(c, layout.groups, costs);
    }
    return sum.value();
  }
  Model model;
  Cluster cluster;
  CostContext costs;
  Training training;
  Plan plan;
  RankLayout layout;
};

TEST(ExpertExchange, PermutationsAreThoseOfTheDispatcher) {
  EXPECT_NEAR(Case("ep=1").passes(), 1 + 1.0 / 6, 1e-12);
  EXPECT_NEAR(Case("ep=8").passes(), 3 + 1.0 / 6, 1e-12);   // 8 experts a rank: sorted again
  EXPECT_NEAR(Case("ep=64").passes(), 1 + 1.0 / 6, 1e-12);  // one expert a rank
  // Two levels: sorted between them, unless all is in one node.
  EXPECT_NEAR(Case("ep=64,dispatch=two-level").passes(), 3 + 1.0 / 6, 1e-12);
  EXPECT_NEAR(Case("ep=8,dispatch=two-level").passes(), 3 + 1.0 / 6, 1e-12);
  EXPECT_NEAR(Case("ep=64,dispatch=deduplicated").passes(), 2, 1e-9);
  EXPECT_NEAR(Case("ep=8,dispatch=deduplicated").passes(), 1 + distinct_units(8, 64, 6) / 6, 1e-12);
}

// arXiv 2403.08245 s.3: products gather their rows; the backward groups them once for the weights.
TEST(ExpertExchange, ScatteredProductsPermuteInTheBackwardAlone) {
  const Case scattered("ep=1,expert_products=scattered");
  EXPECT_EQ(scattered.passes(), 0);
  EXPECT_NEAR(scattered.passes(Direction::backward), 2 * (1 + 1.0 / 6), 1e-12);
  EXPECT_NEAR(Case("ep=1").passes(Direction::backward), 1 + 1.0 / 6, 1e-12);
}

TEST(ExpertExchange, OneCopyARankTakesLessThanOneAnExpert) {
  for (const Way way :
       {Way::tokens_out, Way::tokens_back, Way::gradients_out, Way::gradients_back}) {
    EXPECT_LT(Case("ep=32,dispatch=deduplicated").seconds(way), Case("ep=32").seconds(way));
    EXPECT_EQ(Case("ep=1").seconds(way), 0) << name_of(way);
  }
}

// In two levels a rank sends its tokens to 7 of 8 nodes and to 7 of 8 ranks of its node, sorted in
// between, instead of to 63 of 64 ranks.
TEST(ExpertExchange, TwoLevelsCrossTheNetworkOnceAndTheNodeOnce) {
  const Case two("ep=64,dispatch=two-level");
  EXPECT_NEAR(two.passes(), 3 + 1.0 / 6, 1e-12);
  EXPECT_NEAR(Case("ep=32,dispatch=two-level").passes(), 5 + 1.0 / 6, 1e-12);
  const auto out =
      token_communications(two.block(), two.dispatch(), two.setting(), Way::tokens_out);
  ASSERT_EQ(out.size(), 2);
  EXPECT_EQ(out[0].group, index(StepGroup::expert_peers));
  EXPECT_EQ(out[1].group, index(StepGroup::expert_node));
  EXPECT_EQ(two.layout.ep_peers.size, 8);
  EXPECT_EQ(two.layout.ep_node.size, 8);
  EXPECT_EQ(two.layout.ep_node.members.front(), 8);
  const auto back =
      token_communications(two.block(), two.dispatch(), two.setting(), Way::tokens_back);
  EXPECT_EQ(back[0].group, out[1].group);
  EXPECT_EQ(back[0].payload, out[0].payload);
  // Inside one node the second level is all there is.
  EXPECT_NEAR(Case("ep=8,dispatch=two-level").seconds(Way::tokens_out),
              Case("ep=8").seconds(Way::tokens_out), 1e-12);
}

TEST(ExpertExchange, NamesEachWay) {
  EXPECT_EQ(name_of(Way::tokens_out), "tokens to experts");
  EXPECT_EQ(name_of(Way::gradients_back), "gradients from experts");
}

}  // namespace
}  // namespace orrery
