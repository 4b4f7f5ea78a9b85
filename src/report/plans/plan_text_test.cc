#include "report/plans/plan_text.h"

#include <gmock/gmock.h>

#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

TEST(PlanText, LeavesOutDegreesOfOne) {
  EXPECT_EQ(plan_sentence(sample_estimate().plan),
            "tp 8 · pp 16 × 4 chunks · dp 128 · micro-batch 1 · interleaved_1f1b · zero 1 · "
            "recompute none");
  EXPECT_EQ(plan_sentence(Plan{}), "one GPU · micro-batch 1 · zero 1 · recompute none");
  EXPECT_EQ(plan_settings(sample_estimate().plan), "tp=8,pp=16,dp=128,chunks=4,zero=1");
}

TEST(PlanText, SaysWhatExpertsAndRecomputationDo) {
  Plan plan;
  plan.ep = 8;
  plan.etp = 2;
  plan.dp = 64;
  plan.zero = 3;
  plan.shard_group = 8;
  plan.recompute = Recompute::full;
  plan.recompute_layers = 2;
  EXPECT_EQ(plan_sentence(plan),
            "ep 8 · etp 2 · dp 64 · micro-batch 1 · zero 3 · shard group 8 · recompute full (2 "
            "layers)");
  EXPECT_EQ(plan_settings(plan),
            "dp=64,ep=8,etp=2,zero=3,shard_group=8,recompute=full,recompute_layers=2");
}

TEST(PlanText, NamesASchemeOfContextParallelismThatIsNotTheDefault) {
  Plan plan;
  plan.cp = 8;
  EXPECT_EQ(plan_sentence(plan), "cp 8 · micro-batch 1 · zero 1 · recompute none");
  EXPECT_EQ(plan_settings(plan), "cp=8,zero=1");
  plan.context_parallel = ContextParallel::all_to_all;
  EXPECT_EQ(plan_sentence(plan), "cp 8 (all-to-all) · micro-batch 1 · zero 1 · recompute none");
  EXPECT_EQ(plan_settings(plan), "cp=8,context_parallel=all-to-all,zero=1");
  EXPECT_EQ(plan_settings({}), "zero=1");
}

TEST(PlanText, LeavesNothingOutThatDiffersFromItsDefault) {
  Plan plan;
  plan.ep = 8;
  plan.dp = 8;
  plan.dispatch = ExpertDispatch::two_level;
  plan.loss_tiles = 4;
  plan.offload_optimizer = Offload::cpu;
  EXPECT_EQ(plan_sentence(plan),
            "ep 8 · dp 8 · micro-batch 1 · zero 1 · recompute none · "
            "dispatch=two-level,loss_tiles=4,offload_optimizer=cpu");
}

TEST(PlanText, SaysWhatIsTrained) {
  EXPECT_EQ(training_sentence(sample_estimate().training),
            "sequence 8,192 · global batch 2,048 · bf16 · adamw");
}

}  // namespace
}  // namespace orrery
