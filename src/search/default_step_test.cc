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

// Plans with fewer replicas are no faster because their batch would be smaller: all have that of
// the search, and data parallelism alone has the same.
TEST(DefaultStep, ComparesPlansForOneBatch) {
  const Spec spec = of_llama_8b("h100-sxm:64", 0);
  const auto step = default_step(spec, Catalog::built_in(), 2);
  ASSERT_TRUE(step) << step.error().text();
  EXPECT_GT(step->plan().tp * step->plan().pp, 1);
  EXPECT_EQ(step->training().global_batch, 64);
  EXPECT_THAT(step->defaults, Contains(StartsWith("global batch 64 sequences: one for each GPU")));
  SearchSpace space;
  space.cp = {1};
  space.recompute = {Recompute::none};
  const auto found = search(spec.scenario, space, {}, Catalog::built_in());
  ASSERT_TRUE(found && !found->plans.empty());
  EXPECT_EQ(found->plans.front().training.global_batch, 64);
  EXPECT_LE(found->plans.front().step_time, step->folded.time.seconds());
}

// More GPUs than sequences: data parallelism alone is no plan, others are.
TEST(DefaultStep, DividesTheModelWhereReplicasWouldBeTooMany) {
  const auto step = default_step(of_llama_8b("h100-sxm:64", 16), Catalog::built_in(), 2);
  ASSERT_TRUE(step) << step.error().text();
  EXPECT_EQ(step->training().global_batch, 16);
  EXPECT_LE(step->plan().dp, 16);
  EXPECT_NE(estimate(*step).verdict, Verdict::does_not_fit);
  EXPECT_THAT(step->defaults, Contains(HasSubstr("data parallelism alone cannot run")));
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
