// Steps of long sequences, of groups of ranks by the length of documents, and of unequal shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimate/built_in_scenario.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"

namespace orrery {
namespace {

Estimate estimate_of_rows(Scenario s, std::vector<DocumentLength> lengths = {}) {
  if (!lengths.empty()) {
    s.training.documents = {.lengths = std::move(lengths), .packing = Packing::packed};
  }
  const auto step = predict(s, catalog());
  EXPECT_TRUE(step) << step.error().text();
  const auto errors = load_uncertainty(catalog());
  return estimate(*step, *errors);
}

Estimate long_rows(const std::string& plan, std::vector<DocumentLength> lengths) {
  return estimate_of_rows(scenario("llama-3-8b", "h100-sxm:16", plan, 131072, 16),
                          std::move(lengths));
}

const std::vector<DocumentLength> kLongTail = {{2048, 800}, {16384, 40}, {131072, 4}};

// Groups by length change where documents meet, not what is computed of them.
TEST(ContextGroups, CountTheSameTokensAndPairs) {
  const char* plan = "cp=16,recompute=full,zero=3";
  const Estimate fixed = long_rows(plan, kLongTail);
  const Estimate groups = long_rows(std::string(plan) + ",context_groups=by-length", kLongTail);
  const auto flops = [](const Estimate& e) {
    return e.achieved_per_gpu.value() * e.step_time.value() / e.tokens_per_second /
           e.step_time.value();
  };
  EXPECT_NEAR(flops(groups) / flops(fixed), 1, 0.01);
  // FlexSP, arXiv 2412.01523: short documents no longer travel among all ranks.
  EXPECT_LT(groups.step_time, fixed.step_time);
  EXPECT_LT(groups.breakdown[Category::exposed_cp], fixed.breakdown[Category::exposed_cp]);
}

TEST(ContextGroups, DocumentsAsLongAsARowNeedAllRanks) {
  const char* plan = "cp=16,recompute=full,zero=3";
  const Estimate fixed = long_rows(plan, {{131072}});
  const Estimate groups = long_rows(std::string(plan) + ",context_groups=by-length", {{131072}});
  EXPECT_EQ(groups.step_time, fixed.step_time);
}

TEST(ContextGroups, DocumentsOfOneRankSendNothing) {
  for (const char* kind : {"all-gather", "all-to-all"}) {
    const Estimate e = estimate_of_rows(
        scenario(
            "llama-3-8b", "h100-sxm:8",
            std::string("cp=8,recompute=full,context_groups=by-length,context_parallel=") + kind,
            65536, 8),
        {{4096}, {8192}});
    EXPECT_EQ(e.breakdown[Category::exposed_cp], Picoseconds(0)) << kind;
  }
}

// InternEvo, arXiv 2401.09149 s.4: bytes of states are w / R_P + g / R_G + 12 / R_O a parameter.
TEST(UnequalShards, HoldWhatEachGroupDivides) {
  const auto memory = [](const char* plan) {
    return estimate_of_rows(scenario("llama-3-8b", "h100-sxm:64", plan, 8192, 64))
        .stages.front()
        .memory;
  };
  const MemoryReport all = memory("zero=3");
  const MemoryReport node = memory("zero=3,weight_shard=8,gradient_shard=16");
  EXPECT_NEAR(static_cast<double>(node.parameters), 8.0 * static_cast<double>(all.parameters), 64);
  EXPECT_NEAR(static_cast<double>(node.gradients), 4.0 * static_cast<double>(all.gradients), 64);
  EXPECT_EQ(node.optimizer_states, all.optimizer_states);
}

// The same groups stated twice are the same plan, and ZeRO 3 in a node sends nothing between nodes
// for the passes of a step.
TEST(UnequalShards, EqualGroupsAreNoStrategyOfTheirOwn) {
  const auto time = [](const char* plan) {
    return estimate_of_rows(scenario("llama-3-8b", "h100-sxm:64", plan, 8192, 64)).step_time;
  };
  EXPECT_NEAR(time("zero=3") / time("zero=3,weight_shard=64,gradient_shard=64"), 1, 1e-6);
  EXPECT_NE(time("zero=3,weight_shard=8"), time("zero=3"));
}

}  // namespace
}  // namespace orrery
