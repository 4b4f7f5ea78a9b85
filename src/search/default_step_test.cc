// The step of a specification that leaves the plan open.
#include "search/default_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/estimate.h"
#include "search/search.h"

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Spec of_llama_8b(const char* cluster, std::int64_t global_batch) {
  Spec spec;
  spec.scenario.model = *load_model("llama-3.1-8b", Catalog::built_in());
  spec.scenario.cluster = *parse_cluster(cluster, Catalog::built_in());
  spec.scenario.training.global_batch = global_batch;
  return spec;
}

// A batch that nobody states is one for each GPU, whatever the replicas of the plan.
TEST(DefaultStep, IsNearTheBestOfASearch) {
  for (const std::int64_t batch : {0, 1024}) {
    const Spec spec = of_llama_8b("h100-sxm:64", batch);
    const auto step = default_step(spec, Catalog::built_in(), 2);
    ASSERT_TRUE(step) << step.error().text();
    EXPECT_EQ(step->training().global_batch, batch == 0 ? 64 : 1024);
    EXPECT_NE(estimate(*step).verdict, Verdict::does_not_fit);
    SearchSpace space;
    space.cp = {1, 2};
    space.recompute = {Recompute::none};
    const auto found = search(spec.scenario, space, {}, Catalog::built_in());
    ASSERT_TRUE(found && !found->plans.empty());
    EXPECT_EQ(found->plans.front().training.global_batch, step->training().global_batch);
    EXPECT_LE(step->folded.time.seconds() / found->plans.front().step_time, 1.02);
  }
  const auto step = default_step(of_llama_8b("h100-sxm:64", 0), Catalog::built_in(), 2);
  EXPECT_THAT(step->defaults, Contains(StartsWith("global batch 64 sequences: one for each GPU")));
}

TEST(DefaultStep, KeepsWhatIsStated) {
  Spec spec = of_llama_8b("h100-sxm:64", 64);
  spec.scenario.plan.tp = 4;
  spec.stated = {"tp"};
  const auto step = default_step(spec, Catalog::built_in(), 1);
  ASSERT_TRUE(step) << step.error().text();
  EXPECT_EQ(step->plan().tp, 4);
  EXPECT_EQ(step->plan().dp, 16);
  EXPECT_EQ(step->plan().micro_batch, 1);
}

// More GPUs than sequences: data parallelism alone is no plan, others are.
TEST(DefaultStep, DividesTheModelWhereReplicasWouldBeTooMany) {
  const auto step = default_step(of_llama_8b("h100-sxm:64", 16), Catalog::built_in(), 2);
  ASSERT_TRUE(step) << step.error().text();
  EXPECT_EQ(step->training().global_batch, 16);
  EXPECT_LE(step->plan().dp, 16);
  EXPECT_NE(estimate(*step).verdict, Verdict::does_not_fit);
  EXPECT_THAT(step->defaults, Contains(HasSubstr("no plan was stated; this is the fastest of ")));
}

// What no plan can do is refused with the reasons of the simplest one.
TEST(DefaultStep, SaysWhyNothingRuns) {
  Spec spec = of_llama_8b("a100-80gb-sxm:8", 8);
  spec.scenario.training.precision = NumberFormat::fp8;
  const auto step = default_step(spec, Catalog::built_in(), 1);
  ASSERT_FALSE(step);
  EXPECT_THAT(step.error().text(), HasSubstr("a100-80gb-sxm has no fp8 units"));
}

}  // namespace
}  // namespace orrery
