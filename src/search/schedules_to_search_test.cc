// A search takes the schedules of the software, unless others are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "estimate/assumptions.h"
#include "search/candidate.h"
#include "search/default_step.h"
#include "search/search.h"
#include "search/stated_space.h"

namespace orrery {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Spec of_mixtral(const char* software) {
  Spec spec;
  spec.scenario.model = *load_model("mixtral-8x22b", Catalog::built_in());
  spec.scenario.cluster = *parse_cluster("h100-sxm:64", Catalog::built_in());
  spec.scenario.training.global_batch = 256;
  spec.scenario.training.sequence_length = 4096;
  if (std::string(software) == "unknown") {
    spec.scenario.software.schedules.reset();
  } else {
    choose_software(spec, *load_software(Catalog::built_in(), software));
  }
  return spec;
}

Result<SearchResult> found_by(const Spec& spec, const std::vector<std::string>& named = {},
                              bool all_axes = false) {
  ORRERY_TRY(SearchSpace space, stated_space(spec, named));
  space.tp = {4, 8};
  space.cp = {1};
  space.ep = {8};
  space.micro_batch = {1};
  space.recompute = {Recompute::none, Recompute::selective};
  SearchOptions options;
  options.all_axes = all_axes;
  return search(spec.scenario, space, options, Catalog::built_in());
}

TEST(SchedulesToSearch, AreThoseOfTheSoftware) {
  for (const bool all_axes : {false, true}) {
    const auto found = found_by(of_mixtral("megatron-core-0.12"), {}, all_axes);
    ASSERT_TRUE(found) << found.error().text();
    std::vector<Plan> shown;
    for (const Estimate& e : found->plans) shown.push_back(e.plan);
    for (const Estimate& e : found->pareto) shown.push_back(e.plan);
    for (const RunnerUp& r : found->runners_up) shown.push_back(r.best_other.plan);
    for (const NearMiss& m : found->near_misses) shown.push_back(m.plan);
    EXPECT_GT(shown.size(), 10U);
    for (const Plan& plan : shown) EXPECT_THAT(plan.schedule, AnyOf("1f1b", "interleaved_1f1b"));
    EXPECT_EQ(found->schedules_line,
              "schedules: 1f1b, interleaved_1f1b (those of megatron-core-0.12; --schedules tries "
              "others)");
  }
}

// Others are searched where somebody names them, and the answer says that the software lacks them:
// DualPipeV, which hides the exchanges of tokens of DeepSeek-V3.
TEST(SchedulesToSearch, AreOthersWhereTheyAreNamed) {
  Spec spec = of_mixtral("megatron-core-0.12");
  spec.scenario.model = *load_model("deepseek-v3", Catalog::built_in());
  spec.scenario.cluster = *parse_cluster("deepseek-v3-h800", Catalog::built_in());
  spec.scenario.training.global_batch = 15360;
  spec.scenario.training.precision = NumberFormat::fp8;
  const auto found_of = [&](const std::vector<std::string>& names) {
    SearchSpace space = *stated_space(spec, names);
    space.tp = space.cp = space.micro_batch = {1};
    space.pp = {8, 16};
    space.ep = {32, 64};
    return search(spec.scenario, space, {}, Catalog::built_in());
  };
  const auto usual = found_of({});
  const auto named = found_of({"1f1b", "interleaved_1f1b", "dualpipev"});
  ASSERT_TRUE(usual && named && !usual->plans.empty() && !named->plans.empty());
  EXPECT_EQ(named->schedules_line, "");
  EXPECT_LT(named->plans.front().step_time, usual->plans.front().step_time);
  EXPECT_EQ(named->plans.front().plan.schedule, "dualpipev");
  EXPECT_THAT(named->plans.front().assumed,
              Contains("megatron-core-0.12 does not have dualpipev, only 1f1b, interleaved_1f1b: "
                       "predicted as if it had"));
  EXPECT_THAT(usual->plans.front().assumed, Not(Contains(HasSubstr("does not have"))));
}

// The plan of an estimate that states none is of the same schedules, and nearly as fast.
TEST(SchedulesToSearch, AreThoseOfDefaultPlans) {
  for (const char* software : {"megatron-core-0.12", "hai-llm"}) {
    const Spec spec = of_mixtral(software);
    const auto step = default_step(spec, Catalog::built_in(), 2);
    ASSERT_TRUE(step) << step.error().text();
    EXPECT_TRUE(has_schedule(spec.scenario.software, step->plan().schedule));
    const auto found = found_by(spec);
    ASSERT_TRUE(found && !found->plans.empty());
    EXPECT_LE(step->folded.time.seconds() / found->plans.front().step_time, 1.1) << software;
    EXPECT_THAT(assumptions(*step), Not(Contains(HasSubstr("does not have"))));
  }
}

TEST(SchedulesToSearch, AreNoneWithoutAPipeline) {
  Spec spec = of_mixtral("llm-foundry");
  const SearchSpace space = default_space(spec.scenario, {});
  EXPECT_EQ(space.pp, std::vector<std::int64_t>{1});
  EXPECT_EQ(schedules_line(space, spec.scenario),
            "schedules: llm-foundry has no pipeline; --schedules tries others");
  // A pipeline that somebody states is predicted all the same.
  spec.scenario.plan.pp = 2;
  spec.stated = {"pp"};
  auto stated = stated_space(spec, {});
  ASSERT_TRUE(stated);
  stated->cp = {1};
  stated->ep = {8};
  const auto found = search(spec.scenario, *stated, {}, Catalog::built_in());
  ASSERT_TRUE(found && !found->plans.empty());
  EXPECT_EQ(found->plans.front().plan.pp, 2);
  EXPECT_EQ(found->schedules, (std::vector<std::string>{"1f1b", "interleaved_1f1b"}));
  EXPECT_THAT(found->schedules_line, HasSubstr("no pipeline, so those of 1F1B"));
  EXPECT_THAT(found->plans.front().assumed,
              Contains("llm-foundry has no pipeline: predicted as if it had"));
}

// Which schedules are named for pipelines says nothing about plans without one.
TEST(SchedulesToSearch, DoNotDecideOnPlansOfOneStage) {
  Spec spec = of_mixtral("megatron-core-0.12");
  spec.scenario.model = *load_model("llama-3.1-8b", Catalog::built_in());
  spec.scenario.cluster = *parse_cluster_name("h100-sxm:8", Catalog::built_in());
  spec.scenario.training.global_batch = 64;
  std::vector<Seconds> best;
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{"gpipe", "dualpipev"}, {"dualpipev", "gpipe"}, {"dualpipev"}}) {
    auto space = stated_space(spec, named);
    ASSERT_TRUE(space);
    space->tp = {1, 2};
    space->cp = {1};
    space->micro_batch = {1, 2};
    const auto found = search(spec.scenario, *space, {}, Catalog::built_in());
    ASSERT_TRUE(found && !found->plans.empty());
    best.push_back(found->plans.front().step_time);
    EXPECT_EQ(found->plans.front().plan.pp, 1);
  }
  EXPECT_EQ(best[1], best[0]);
  EXPECT_EQ(best[2], best[0]);
}

// Software without 1F1B does the work of one stage in its order all the same.
TEST(SchedulesToSearch, LeaveOneStageAlone) {
  const Spec spec = of_mixtral("maxtext");
  SearchSpace space = default_space(spec.scenario, {});
  space.cp = {1};
  space.ep = {8};
  EXPECT_EQ(space.schedules, (std::vector<std::string>{"gpipe", "breadth_first"}));
  std::size_t alone = 0;
  for (const CandidateGroup& group : groups(space, spec.scenario)) {
    for (const Candidate& c : members(group, space, 56)) {
      alone += c.pp == 1 ? 1 : 0;
      EXPECT_EQ(plan_of(c, space, {}, 64).schedule == "1f1b", c.pp == 1);
    }
  }
  EXPECT_GT(alone, 0U);
}

TEST(SchedulesToSearch, AreAllOfAFixedOrderWhereNothingIsKnown) {
  const Spec spec = of_mixtral("unknown");
  const SearchSpace space = default_space(spec.scenario, {});
  EXPECT_THAT(space.schedules, Contains("dualpipev"));
  EXPECT_THAT(space.schedules, Contains("chimera"));
  EXPECT_THAT(space.schedules, Not(Contains("zb_v")));  // worked out for the times of every plan
  EXPECT_THAT(schedules_line(space, spec.scenario), HasSubstr("is not known"));
  const auto step = default_step(spec, Catalog::built_in(), 2);
  ASSERT_TRUE(step) << step.error().text();
  const bool says = std::ranges::any_of(step->defaults, [](const std::string& line) {
    return line.starts_with("schedules: all of a fixed order");
  });
  EXPECT_EQ(says, step->plan().pp > 1);
}

}  // namespace
}  // namespace orrery
