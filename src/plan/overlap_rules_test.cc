// Models that hide communication by themselves, and plans that would hide it a second time.
#include "plan/overlap_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "model/family.h"
#include "plan/completed_plan.h"

namespace orrery {
namespace {

Model named_model(const char* name) {
  return *read_model(*Catalog::built_in().find("models", name));
}
Cluster accelerators(const char* text) { return *parse_cluster(text, Catalog::built_in()); }

TEST(OverlapRules, LateSumsHideThemselves) {
  Model late = named_model("llama-3-8b");
  for (Block& block : late.blocks) block.residual = Residual::ladder;
  const Cluster c = accelerators("h100-sxm:16");
  const auto problems_of = [&](const std::string& text) {
    Training t;
    t.sequence_length = 2048;
    t.global_batch = 64;
    const CompletedPlan completed = completed_plan(late, c, t, *parse_plan(text));
    return plan_problems(late, c, completed.training, completed.plan);
  };
  const std::string flat = "tp=4,sequence_parallel=false";
  const std::vector<std::string> twice = {
      "residual ladder of llama-3-8b hides these sums already; leave out halves, "
      "overlap.tensor_tiles and overlap.tensor_parallel"};
  EXPECT_TRUE(problems_of(flat).empty());
  EXPECT_TRUE(problems_of("tp=1").empty());
  EXPECT_EQ(problems_of(flat + ",halves=sequence"), twice);
  EXPECT_EQ(problems_of(flat + ",overlap.tensor_tiles=on"), twice);
  EXPECT_EQ(
      problems_of("tp=4"),
      (std::vector<std::string>{
          "residual ladder of llama-3-8b hides all-reduces; with sequence_parallel=true every "
          "product waits for its own gather: write sequence_parallel=false"}));
}

TEST(OverlapRules, ExchangesRunBesideTheSharedExpertOrAnotherMicrobatch) {
  const Model model = named_model("deepseek-v2-lite");
  const Cluster c = accelerators("h100-sxm:16");
  const auto problems_of = [&](const std::string& text) {
    Training t;
    t.sequence_length = 2048;
    t.global_batch = 64;
    const CompletedPlan completed = completed_plan(model, c, t, *parse_plan(text));
    return plan_problems(model, c, completed.training, completed.plan);
  };
  EXPECT_TRUE(problems_of("ep=8,overlap.expert=on").empty());
  EXPECT_TRUE(problems_of("ep=8,overlap.expert_batches=on").empty());
  EXPECT_EQ(problems_of("ep=8,overlap.expert=on,overlap.expert_batches=on"),
            (std::vector<std::string>{"overlap.expert_batches and overlap.expert hide the same "
                                      "exchanges: use one of them"}));
}

TEST(OverlapRules, AShortcutHidesExchangesItself) {
  Model shortcut = named_model("deepseek-v2-lite");
  for (Block& block : shortcut.blocks) block.residual = Residual::shortcut;
  const Cluster c = accelerators("h100-sxm:16");
  const auto problems_of = [&](const std::string& text) {
    Training t;
    t.sequence_length = 2048;
    t.global_batch = 64;
    const CompletedPlan completed = completed_plan(shortcut, c, t, *parse_plan(text));
    return plan_problems(shortcut, c, completed.training, completed.plan);
  };
  EXPECT_TRUE(problems_of("ep=8").empty());
  EXPECT_TRUE(problems_of("ep=8,tp=2").empty());
  EXPECT_EQ(problems_of("ep=8,overlap.expert=on"),
            (std::vector<std::string>{
                "residual shortcut of deepseek-v2-lite hides the exchanges of tokens already; "
                "leave out overlap.expert, overlap.expert_batches and halves"}));
  EXPECT_EQ(problems_of("ep=8,recompute=alternate"),
            (std::vector<std::string>{"residual shortcut of deepseek-v2-lite and "
                                      "recompute=alternate are not modelled together; full "
                                      "works"}));
  for (const char* pairs : {"dualpipe", "dualpipev"}) {
    const std::string said = std::string("residual shortcut of deepseek-v2-lite hides the ") +
                             "exchanges of tokens already; schedule " + pairs +
                             " hides them behind the other pass of a pair: use schedule=1f1b";
    const auto all = problems_of(std::string("ep=4,pp=2,schedule=") + pairs);
    EXPECT_EQ(std::ranges::count(all, said), 1) << pairs;
  }
  EXPECT_TRUE(problems_of("ep=4,pp=2,schedule=1f1b").empty());
}

}  // namespace
}  // namespace orrery
