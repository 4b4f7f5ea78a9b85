// Which batches the batch rule proposes in place of one that cannot be divided into microbatches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "model/family.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

using testing::ElementsAre;

class BatchRule : public testing::Test {
 protected:
  std::vector<std::string> problems(const std::string& plan, std::int64_t batch) const {
    Training training;
    training.sequence_length = 8192;
    training.global_batch = batch;
    const CompletedPlan completed = completed_plan(model_, cluster_, training, *parse_plan(plan));
    return plan_problems(model_, cluster_, completed.training, completed.plan);
  }

 private:
  Model model_ = *read_model(*Catalog::built_in().find("models", "llama-3.1-405b"));
  Cluster cluster_ = *parse_cluster("h100-sxm:16384", Catalog::built_in());
};

// The numbers that "...: write 896 or 1024" names.
std::vector<std::int64_t> proposed(const std::string& problem) {
  std::vector<std::int64_t> out;
  const std::size_t at = problem.find(": write ");
  if (at == std::string::npos) return out;
  std::istringstream words(problem.substr(at + 8));
  std::string word;
  while (words >> word) {
    if (word != "or") out.push_back(std::stoll(word));
  }
  return out;
}

TEST_F(BatchRule, ProposesWholeGroupsWhereTheScheduleNeedsThem) {
  EXPECT_THAT(
      problems("tp=8,pp=16,chunks=8", 1000),
      ElementsAre("global batch 1000 is not a multiple of dp 128 x micro_batch 1: write 2048"));
  EXPECT_THAT(
      problems("tp=8,pp=16,chunks=8", 5000),
      ElementsAre(
          "global batch 5000 is not a multiple of dp 128 x micro_batch 1: write 4096 or 6144"));
  EXPECT_THAT(problems("tp=8,pp=16,schedule=dualpipe", 5000),
              ElementsAre("global batch 5000 is not a multiple of dp 128 x micro_batch 1: write "
                          "4864 or 5120"));
}

TEST_F(BatchRule, ProposesNothingWhereNoBatchWouldDo) {
  EXPECT_THAT(problems("tp=8,pp=16,schedule=pipedream", 1000),
              ElementsAre("global batch 1000 is not a multiple of dp 128 x micro_batch 1"));
}

TEST_F(BatchRule, IsNotAskedWhereTheDegreesGiveNoReplicas) {
  EXPECT_THAT(problems("pp=3,shard_group=5,recompute_layers=2", 77),
              ElementsAre("tp 1 x cp 1 x pp 3 does not divide 16384 GPUs",
                          "recompute_layers 2 needs recompute=full, selective or alternate"));
}

TEST_F(BatchRule, WhatItProposesIsAcceptedAndTheNearestThatIs) {
  int accepted = 0;
  for (const Schedule& schedule : schedules()) {
    for (const char* shape : {"pp=2", "pp=16", "pp=16,chunks=2", "pp=16,chunks=4,group=24"}) {
      const std::string plan =
          "tp=8,micro_batch=2," + std::string(shape) + ",schedule=" + std::string(schedule.name);
      const std::int64_t at_once = 2 * (16384 / 8 / parse_plan(plan)->pp);
      for (const std::int64_t batch : {at_once / 2, 7 * at_once + 1, 41 * at_once - 2}) {
        const auto reasons = problems(plan, batch);
        const auto of_batch = std::ranges::find_if(
            reasons, [](const std::string& r) { return r.starts_with("global batch"); });
        ASSERT_NE(of_batch, reasons.end()) << plan;
        const std::vector<std::int64_t> better = proposed(*of_batch);
        for (const std::int64_t b : better) {
          // Whatever else is wrong with the plan, the batch is not.
          EXPECT_EQ(problems(plan, b).size(), reasons.size() - 1) << plan << ", batch " << b;
          ++accepted;
          const std::int64_t towards = b > batch ? -at_once : at_once;
          for (std::int64_t nearer = b + towards; (nearer > batch) == (b > batch);
               nearer += towards) {
            EXPECT_GE(problems(plan, nearer).size(), reasons.size()) << plan << ", " << nearer;
          }
        }
      }
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace orrery
