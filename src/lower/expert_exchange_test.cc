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
  [[nodiscard]] double passes() const {
    return permutation_work(block(), dispatch(), setting()).passes;
  }
  [[nodiscard]] double seconds(Way way) const {
    return price(token_communication(block(), dispatch(), setting(), way), layout.ep, costs)
        .value();
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
  EXPECT_NEAR(Case("ep=64,dispatch=deduplicated").passes(), 2, 1e-9);
  EXPECT_NEAR(Case("ep=8,dispatch=deduplicated").passes(), 1 + distinct_units(8, 64, 6) / 6, 1e-12);
}

TEST(ExpertExchange, OneCopyARankTakesLessThanOneAnExpert) {
  for (const Way way :
       {Way::tokens_out, Way::tokens_back, Way::gradients_out, Way::gradients_back}) {
    EXPECT_LT(Case("ep=32,dispatch=deduplicated").seconds(way), Case("ep=32").seconds(way));
    EXPECT_EQ(Case("ep=1").seconds(way), 0) << name_of(way);
  }
}

TEST(ExpertExchange, NamesEachWay) {
  EXPECT_EQ(name_of(Way::tokens_out), "tokens to experts");
  EXPECT_EQ(name_of(Way::gradients_back), "gradients from experts");
}

}  // namespace
}  // namespace orrery
