// Axes that a search is asked for, against exhaustive search.
#include "search/further_axes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <tuple>

#include "lower/step_graph.h"
#include "search/exhaustive.h"
#include "search/stated_space.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

std::vector<FurtherAxis> further(std::initializer_list<const char*> texts) {
  std::vector<FurtherAxis> out;
  for (const char* text : texts) out.push_back(*further_axis(text));
  return out;
}

// Every combination of values of axes that were asked for is counted, and none is missed.
TEST(Search, EqualsExhaustiveSearchOverFurtherAxes) {
  struct Case {
    const char* model;
    const char* cluster;
    std::vector<FurtherAxis> axes;
  };
  const Case cases[] = {
      {"llama-3-8b", "a100-40gb-sxm:16",
       further({"halves", "sequence_parallel", "overlap.tensor_parallel"})},
      {"llama-3-8b", "h100-sxm:16",
       further({"local_steps=1,50", "shard_group=0,8", "averaging", "overlap.outer"})},
      {"mixtral-8x7b", "h100-sxm:16", further({"dispatch_format", "gradient_code"})},
      {"llama-2-13b", "a100-40gb-sxm:8",
       further({"offload_optimizer=none,cpu", "quantized_weights", "quantized_gradients"})},
      {"gpt-3-1.3b", "v100-16gb-sxm2:16", further({"gradient_code", "gradient_bucket_mib"})}};
  for (const Case& c : cases) {
    Scenario s = scenario(c.model, 6, c.cluster, 2048, 32);
    s.cluster.host.memory_bandwidth = BytesPerSecond(400e9);
    s.training.precision =
        std::string(c.model) == "mixtral-8x7b" ? NumberFormat::fp8 : NumberFormat::bf16;
    if (std::string(c.cluster).starts_with("v100")) s.training.precision = NumberFormat::fp16;
    SearchSpace space;
    space.tp = {1, 4};
    space.cp = {1};
    space.pp = {1, 2};
    space.micro_batch = {1, 2};
    space.zero = {0, 1, 3};
    space.recompute = {Recompute::none, Recompute::full};
    space.further = c.axes;
    SearchOptions options;
    options.top = 3;
    options.threads = 2;
    std::int64_t considered = 0;
    const auto best = exhaustive(s, space, &considered);
    const auto found = search(s, space, options, Catalog::built_in());
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->considered, considered) << c.model;
    ASSERT_TRUE(best && !found->plans.empty()) << c.model;
    EXPECT_EQ(found->plans.front().step_time, *best) << c.model;
    // No worse than without the axes, whose first values are the usual ones.
    space.further.clear();
    const auto without = search(s, space, options, Catalog::built_in());
    ASSERT_TRUE(without) << without.error().text();
    EXPECT_LT(without->considered, found->considered) << c.model;
    if (!without->plans.empty()) {
      EXPECT_LE(found->plans.front().step_time, without->plans.front().step_time) << c.model;
    }
    // What was searched is no longer listed as left out.
    for (const FurtherAxis& axis : c.axes) {
      EXPECT_EQ(std::ranges::count(found->not_searched, axis.field), 0) << axis.field;
    }
  }
}

// A value that no valid plan has is named with the reason; others are not.
TEST(FurtherAxes, ValuesThatAreNeverTriedAreNamed) {
  const Scenario s = scenario("llama-3-8b", 4, "h100-sxm:8", 4096, 8);
  SearchSpace space;
  space.tp = {2};
  space.micro_batch = {1};
  space.further = further({"halves", "sequence_parallel=false"});
  const auto found = search(s, space, {}, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->never_tried,
            (std::vector<std::string>{
                "halves=batch: halves=batch needs an even number of sequences; micro_batch is 1"}));
}

// Dispatch is an axis anyway: its values are those that were asked for.
TEST(FurtherAxes, TwoLevelDispatchIsSearchedWhereItIsAskedFor) {
  const Scenario s = scenario("mixtral-8x7b", 4, "h100-sxm:16", 4096, 16);
  SearchSpace space;
  space.tp = {1};
  space.cp = {1};
  space.pp = {1};
  space.ep = {8};
  space.further = further({"dispatch=two-level"});
  const auto found = search(s, space, {}, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_FALSE(found->plans.empty());
  EXPECT_EQ(found->plans.front().plan.dispatch, ExpertDispatch::two_level);
}

// What a search leaves out as a repetition changes neither time nor memory.
TEST(FurtherAxes, WhatMeansNothingChangesNothing) {
  const auto axes = further({"dispatch_format", "sequence_parallel", "etp=1,2", "ulysses=0,1",
                             "overlap.tensor_parallel", "overlap.tensor_tiles", "overlap.pipeline",
                             "overlap.expert", "overlap.expert_batches"});
  std::mt19937 random(20231014);
  std::size_t compared = 0;
  for (int draw = 0; draw < 4000 && compared < 400; ++draw) {
    const auto c = random_case(random);
    if (!c) continue;
    const auto priced = [&](const Plan& plan) {
      CostCache cache(c->model, c->training, *cost_context(c->cluster, Catalog::built_in()));
      const StepCosts costs = step_costs(cache, plan);
      Candidate memory;
      measure(costs, memory);
      const auto step = step_graph(costs, Folding::folded);
      return std::tuple(lower_bound(costs), memory.peak,
                        step ? simulate(step->graph).makespan : Picoseconds(0));
    };
    for (const FurtherAxis& axis : axes) {
      for (std::size_t i = 1; i < axis.values.size(); ++i) {
        if (!repeats({axis}, i, c->plan)) continue;
        Plan first = c->plan;
        Plan other = c->plan;
        set_combination({axis}, 0, first);
        set_combination({axis}, i, other);
        const auto valid = [&](const Plan& p) {
          return plan_problems(c->model, c->cluster, c->training, p).empty();
        };
        if (!valid(first) || !valid(other)) continue;
        ++compared;
        EXPECT_EQ(priced(first), priced(other)) << axis.field << " " << to_text(c->plan);
      }
    }
  }
  EXPECT_GE(compared, 400U);
}

TEST(FurtherAxes, TakeTheirUsualValues) {
  for (const std::string& field : fields_with_usual_values()) {
    const auto axis = further_axis(field);
    ASSERT_TRUE(axis) << axis.error().text();
    EXPECT_GE(axis->values.size(), 2U) << field;
  }
}

// A field of a plan is searched, varied with all axes or varied if asked for, or it is one of a few.
TEST(FurtherAxes, KnowEveryFieldOfAPlan) {
  std::vector<std::string> unknown;
  const Description& plan = field_table<Plan>().description();
  for (const FieldDescription& field : plan.fields) {
    const auto axis = further_axis(field.key);
    if (!axis && axis.error().text().find("is no field") != std::string::npos) {
      unknown.emplace_back(field.key);
    }
  }
  EXPECT_EQ(unknown, (std::vector<std::string>{"redundant_experts", "layers", "site_microbatches",
                                               "site_micro_batch", "quadratic"}));
}

TEST(FurtherAxes, ErrorsSayWhatIsWrong) {
  const auto error = [](const char* text) { return further_axis(text).error().text(); };
  EXPECT_EQ(error("local_steps"), "local_steps: needs values (write for example local_steps=1,8)");
  EXPECT_EQ(error("gradient_code=none,none"), "gradient_code: has the value none twice");
  EXPECT_NE(error("gradient_cod").find("gradient_code"), std::string::npos);
  EXPECT_EQ(error("zero=1,2"), "'zero' is searched anyway; state it in the plan to keep it fixed");
  EXPECT_EQ(error("expert_placement"), "'expert_placement' is varied when all axes are searched");
  EXPECT_NE(error("layers").find("no field that a search can be asked to vary"), std::string::npos);
  EXPECT_NE(error("averaging=rings").find("ring"), std::string::npos);
  EXPECT_FALSE(further_axis("local_steps=1,,2"));
  EXPECT_FALSE(further_axis("local_steps=1,2,local_steps=3"));
  SearchSpace space;
  space.stated = {"halves"};
  EXPECT_EQ(add_axes(space, {"halves"}).error().text(),
            "halves: is stated by the plan as well (leave one of them out)");
  EXPECT_EQ(add_axes(space, {"gradient_code", "gradient_code"}).error().text(),
            "gradient_code: is given twice");
  EXPECT_EQ(combinations(further({"averaging", "halves=none,batch"})), 8U);
}

}  // namespace
}  // namespace orrery
