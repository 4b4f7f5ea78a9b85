#include <gmock/gmock.h>

#include <sstream>

#include "estimate/spec.h"
#include "plan/completed_plan.h"
#include "report/plans/plan_reports.h"
#include "report/plans/plan_text.h"
#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const SearchResult& result, int width = 100) {
  return search_text(result, sample_subject(), Seconds(3.2), {.width = width});
}

TEST(SearchText, CountsEveryPlan) {
  EXPECT_EQ(counts_text(sample_search_result(), Seconds(3.2), {.width = 200}),
            "  128,412 plans considered: 90,000 too large for memory, 37,300 bounded away, 1,112 "
            "simulated\n"
            "  took 3.20 s (40.1 k plans/s)\n");
  SearchResult interrupted = sample_search_result();
  interrupted.interrupted = true;
  EXPECT_THAT(counts_text(interrupted, {}, {.width = 200}),
              HasSubstr("1,112 simulated; interrupted: the best so far"));
}

TEST(SearchText, RanksPlansAndSaysOnceWhatAllShare) {
  const std::string text = plans_table(sample_search_result()).text({.width = 100});
  EXPECT_THAT(text,
              HasSubstr("#  tp  pp  v   dp  mbs    step      90 % in     MFU    memory  slower"));
  EXPECT_THAT(text, HasSubstr("1   8  16  4  128    1  8.00 s  7.20–8.80 s  40.4 %  58.0 GiB"));
  EXPECT_THAT(text, HasSubstr("+3.0 %"));
  EXPECT_THAT(text, Not(HasSubstr(" cp ")));
  EXPECT_THAT(text_of(sample_search_result()),
              HasSubstr("in all: zero 1 · recompute none · schedule interleaved_1f1b · placement "
                        "tp+cp+dp+pp\n"));
  SearchResult with_context = sample_search_result();
  with_context.plans[2].plan.cp = 2;
  EXPECT_THAT(plans_table(with_context).text({.width = 100}), HasSubstr(" cp "));
}

TEST(SearchText, SaysHowFarToTrustTheTimes) {
  SearchResult r = sample_search_result();
  EXPECT_THAT(text_of(r),
              HasSubstr("\n  interval from errors of 6 % of the whole step. 2 sources measured "));
  r.plans[0].interval.distance = "extrapolates: no step was measured on gaudi";
  EXPECT_THAT(text_of(r), HasSubstr("extrapolates: no step was measured on gaudi"));
}

TEST(SearchText, PlansThatDifferInChunksAloneAndTakeAsLongShareARow) {
  SearchResult r = sample_search_result();
  for (const int chunks : {2, 8}) {
    r.plans.insert(r.plans.begin() + 1, r.plans[0]);
    r.plans[1].plan.chunks = chunks;
  }
  r.plans[2].step_time = r.plans[2].step_time * 1.0001;  // as long when printed
  const std::string text = text_of(r);
  EXPECT_THAT(text, HasSubstr("1   8  16  4 (+2)  128    1  8.00 s"));
  EXPECT_THAT(text, HasSubstr("2   8  16       3  128    2  8.08 s"));
  EXPECT_THAT(text, HasSubstr("differs only in chunks and takes the same time"));
  EXPECT_THAT(text_of(sample_search_result()), Not(HasSubstr("chunks alone")));
}

// Of every plan that a search names: what is shown is what `--plan` reads.
TEST(SearchText, SettingsCompleteToTheirPlan) {
  const Catalog& catalog = Catalog::built_in();
  Scenario scenario;
  scenario.model = *load_model("mixtral-8x7b", catalog);
  scenario.cluster = *parse_cluster("h100-sxm:32", catalog);
  scenario.training.sequence_length = 4096;
  scenario.training.global_batch = 64;
  SearchSpace space;
  space.cp = {1, 2};
  const auto found = search(scenario, space, {}, catalog);
  ASSERT_TRUE(found) << found.error().text();
  std::vector<Plan> plans;
  for (const Estimate& e : found->plans) plans.push_back(e.plan);
  for (const Estimate& e : found->pareto) plans.push_back(e.plan);
  for (const RunnerUp& r : found->runners_up) plans.push_back(r.best_other.plan);
  EXPECT_GT(plans.size(), 20U);
  for (const Plan& plan : plans) {
    const auto read = parse_plan(plan_settings(plan));
    ASSERT_TRUE(read) << plan_settings(plan);
    EXPECT_EQ(completed_plan(scenario.model, scenario.cluster, scenario.training, *read).plan, plan)
        << plan_settings(plan);
  }
}

TEST(SearchText, SaysWhyTheWinnerWon) {
  const std::string text = text_of(sample_search_result());
  EXPECT_THAT(text, HasSubstr("tp    8       4     8.40 s  +5.0 %  +400 ms exposed data parallel"));
  EXPECT_THAT(text,
              HasSubstr("tp=8,pp=8,dp=256,chunks=4,zero=1          7.25 s  95.0 GiB  15.0 GiB"));
}

TEST(SearchText, SaysHowManyPlansEqualThoseItLists) {
  SearchResult r = sample_search_result();
  EXPECT_THAT(notes_of(r), testing::Not(HasSubstr("same time and memory")));
  r.equal_plans.assign(r.plans.size(), 7);
  EXPECT_THAT(notes_of(r), HasSubstr("of the same time and memory: 7 more plans as each"));
  ASSERT_GT(r.plans.size(), 1U);
  r.equal_plans[0] = 1;
  EXPECT_THAT(notes_of(r), HasSubstr("1 more plan as #1, 7 as #2"));
  r.equal_plans[1] = 0;
  EXPECT_THAT(notes_of(r), HasSubstr("1 more plan as #1"));
}

TEST(SearchText, ComparesByTheLinesThatChangedMost) {
  const Estimate winner = sample_estimate();
  Estimate other = winner;
  EXPECT_EQ(largest_changes(winner, other).grew, "");
  other.breakdown[Category::bubble] += sample_milliseconds(3);
  other.breakdown[Category::exposed_tp] += sample_milliseconds(2);
  other.breakdown[Category::feed_forward] -= sample_milliseconds(9);
  EXPECT_EQ(largest_changes(winner, other).grew, "+3.00 ms pipeline bubble");
  EXPECT_EQ(largest_changes(winner, other).shrank, "-9.00 ms feed-forward");
  // Less than a tenth of what grew explains nothing.
  other.breakdown[Category::bubble] += sample_milliseconds(90);
  EXPECT_EQ(largest_changes(winner, other).grew, "+93.0 ms pipeline bubble");
  EXPECT_EQ(largest_changes(winner, other).shrank, "");
}

TEST(SearchText, NamesThePlanThatFitsAtWorstBesideOneThatMayNot) {
  SearchResult r = sample_search_result();
  EXPECT_THAT(text_of(r), Not(HasSubstr("allocator overhead")));
  constexpr ByteCount kGiB = ByteCount{1} << 30;
  r.plans.front().pessimistic_memory = 95 * kGiB;
  r.surely_fitting = r.plans.back();
  r.surely_fitting->plan.tp = 4;
  r.surely_fitting->pessimistic_memory = 60 * kGiB;
  const std::string text = text_of(r, 220);
  EXPECT_THAT(text, HasSubstr("With the largest measured allocator overhead the best plan needs "
                              "95.0 GiB of 80.0 GiB. Best plan that fits even then: 8.24 s (+3.0 "
                              "%), 49.0 GiB (60.0 GiB at worst)\n  fits: --plan tp=4,pp=16,"));
}

TEST(SearchText, ShowsCausalMfuWhereItDiffers) {
  SearchResult r = sample_search_result();
  EXPECT_THAT(text_of(r, 140), Not(HasSubstr("causal MFU")));
  for (Estimate& e : r.plans) e.causal_mfu = e.mfu / 2;
  EXPECT_THAT(text_of(r, 140), HasSubstr("MFU  causal MFU    memory"));
}

TEST(SearchText, SaysWhatTheBestPlanAssumesAsItsEstimateDoes) {
  const SearchResult result = sample_search_result();
  ASSERT_FALSE(result.plans.front().assumed.empty());
  const std::string assumed = assumed_text(result.plans.front(), {.width = 100});
  ASSERT_FALSE(assumed.empty());
  EXPECT_TRUE(text_of(result).ends_with(assumed));
}

TEST(SearchText, DrawsTheFront) {
  const std::string text = pareto_text(sample_search_result(), {.width = 100});
  EXPECT_THAT(text, HasSubstr("8.24 s │●"));
  EXPECT_THAT(text, HasSubstr("49.0 GiB"));
  SearchResult one = sample_search_result();
  one.pareto.resize(1);
  EXPECT_EQ(pareto_text(one, {.width = 100}), "");
}

TEST(SearchText, SaysByHowMuchTheSmallestPlanIsTooLarge) {
  SearchResult r = sample_search_result();
  r.least_memory = r.near_misses;
  r.plans.clear();
  r.pareto.clear();
  r.runners_up.clear();
  const std::string text = text_of(r);
  EXPECT_THAT(text, HasSubstr("No plan of llama-3.1-405b fits on h100-sxm:16384"));
  EXPECT_THAT(text, HasSubstr("The smallest plan is too large"));
  EXPECT_THAT(text, HasSubstr("15.0 GiB"));
}

TEST(SearchText, NeverExceedsTheWidthAndHasNoEscapeCodes) {
  for (const int width : {20, 31, 47, 60, 80, 100, 140, 220}) {
    const std::string text = text_of(sample_search_result(), width);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      // What is pasted is not broken.
      EXPECT_TRUE(display_width(line) <= width || line.find("--plan ") != std::string::npos ||
                  line.find("tp=") != std::string::npos)
          << line;
    }
  }
}

}  // namespace
}  // namespace orrery
