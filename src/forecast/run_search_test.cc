// What a run delivers, searched, against forecasting every plan of the space.
#include "forecast/run_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimate/built_in_scenario.h"
#include "estimate/spec.h"

namespace orrery {
namespace {

Scenario small_run() { return scenario("llama-3-8b", "h100-sxm:256", "micro_batch=1", 8192, 384); }

RunSearchQuestion question(RunObjective objective, std::vector<std::int64_t> sizes = {}) {
  RunSearchQuestion q{.objective = objective, .sizes = std::move(sizes), .run = {}, .space = {}};
  q.run.tokens = "1T";
  q.space.tp = {4};
  q.space.pp = {1, 2, 4, 8, 16};
  q.space.cp = {1};
  q.space.micro_batch = {1};
  q.space.zero = {1};
  q.space.schedules = {"1f1b"};
  q.space.recompute = {Recompute::none};
  return q;
}

Result<RunSearchResult> found(const RunSearchQuestion& q, int threads = 2, int top = 1) {
  SearchOptions options;
  options.top = top;
  options.threads = threads;
  return search_runs(small_run(), q, options, catalog());
}

// The distribution of every plan that fits.
TEST(RunSearch, LeavesOutNoPlanOfAShorterStep) {
  const RunSearchQuestion q = question(RunObjective::goodput);
  const auto result = found(q);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_TRUE(result->sizes.front().proven);
  SearchOptions all;
  all.top = 1000;
  const auto plans = search(small_run(), q.space, all, catalog());
  ASSERT_TRUE(plans);
  ASSERT_GT(static_cast<std::int64_t>(plans->plans.size()), result->sizes.front().sampled);
  StepQuestion sampled;
  sampled.samples = kSearchedSamples;
  Seconds least = plans->plans.front().step_time * 10;
  for (const Estimate& e : plans->plans) {
    const auto step = predict(plans->winner->priced, e.plan);
    const auto times = sampled_step_times(*step, e.step_time, sampled, catalog(), 2);
    EXPECT_GE(times->p95.value, e.step_time);
    least = std::min(least, times->p95.value);
  }
  EXPECT_EQ(result->runs.front().step.p95.value, least);
}

TEST(RunSearch, GivesWhatAForecastOfThePlanGives) {
  const auto result = found(question(RunObjective::cost));
  ASSERT_TRUE(result) << result.error().text();
  const RankedRun& best = result->runs.front();
  RunQuestion q;
  q.tokens = "1T";
  q.runs = best.run.runs;
  q.step_at = StepOfRun::p95;
  q.step.samples = kSearchedSamples;
  const auto run = forecast(*result->winner, best.plan, q, std::nullopt, catalog(), {.threads = 1});
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->step_time, best.step.p95.value);
  EXPECT_EQ(run->wall.mean, best.run.wall.mean);
  EXPECT_EQ(run->cost(run->wall.mean).value(), figure(RunObjective::cost, best));
  // Goodput is the tokens over the wall-clock time, but for the difference of two means.
  EXPECT_NEAR(best.goodput(), 1e12 / best.run.wall.mean.value(), 0.001 * best.goodput());
}

TEST(RunSearch, ReachesALossWithTheTokensThatItNeeds) {
  RunSearchQuestion q = question(RunObjective::time_to_train);
  q.run.tokens.clear();
  q.run.loss = 2.2;
  const auto result = found(q);
  ASSERT_TRUE(result) << result.error().text();
  const RunForecast& run = result->runs.front().run;
  ASSERT_TRUE(run.loss && run.tokens);
  EXPECT_EQ(run.loss->run.loss, 2.2);
  q.run.loss = std::nullopt;
  q.run.tokens = std::to_string(*run.tokens);
  EXPECT_EQ(found(q)->runs.front().run.wall.mean, run.wall.mean);
}

TEST(RunSearch, SmallerRunsCostLessAndLargerOnesEndEarlier) {
  const std::vector<std::int64_t> sizes = {64, 256, 128};
  const auto cheap = found(question(RunObjective::cost, sizes));
  const auto quick = found(question(RunObjective::time_to_train, sizes));
  ASSERT_TRUE(cheap && quick);
  EXPECT_EQ(cheap->runs.front().plan.gpus, 64);
  EXPECT_EQ(quick->runs.front().plan.gpus, 256);
  EXPECT_EQ(cheap->fastest->plan.gpus, 256);
  for (const auto* r : {&*cheap, &*quick}) {
    ASSERT_EQ(r->runs.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(
        r->runs, {}, [&](const RankedRun& run) { return figure(r->objective, run); }));
  }
}

TEST(RunSearch, NodesThatARunLeavesAreItsSpares) {
  RunSearchQuestion q = question(RunObjective::goodput, {256, 192});
  q.run.failures = "meta-rsc-1";
  q.run.spares = 0;
  q.run.repair = TimeLaw{.mean = Seconds(3.0 * 86400)};
  const auto result = found(q);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->runs.front().plan.gpus, 192);
  EXPECT_EQ(result->runs.front().spares, 8);
  EXPECT_EQ(result->runs.back().spares, 0);
  EXPECT_EQ(result->fastest->plan.gpus, 256);
  // Where there is always another node, the larger run delivers more.
  q.run.spares = std::nullopt;
  EXPECT_EQ(found(q)->runs.front().plan.gpus, 256);
}

TEST(RunSearch, IsTheSameOnAnyNumberOfThreads) {
  const RunSearchQuestion q = question(RunObjective::goodput, {128, 256});
  const auto one = found(q, 1, 3);
  const auto three = found(q, 3, 3);
  ASSERT_TRUE(one && three);
  ASSERT_EQ(one->runs.size(), three->runs.size());
  for (std::size_t i = 0; i < one->runs.size(); ++i) {
    EXPECT_EQ(one->runs[i].plan.plan, three->runs[i].plan.plan);
    EXPECT_EQ(one->runs[i].goodput(), three->runs[i].goodput());
  }
}

TEST(RunSearch, RefusesWhatHasNoAnswer) {
  const auto refusal = [](const RunSearchQuestion& q) {
    const auto result = found(q);
    return result ? std::string() : result.error().text();
  };
  RunSearchQuestion q = question(RunObjective::cost);
  q.run.tokens.clear();
  EXPECT_EQ(refusal(q),
            "forecast.tokens: the length of the run is not given (write --tokens 15.6T, or --steps "
            "100000)");
  q = question(RunObjective::goodput, {512});
  EXPECT_EQ(refusal(q),
            "--gpus: accelerators: 512 accelerators is more than the 256 of h100-sxm:256 (at most "
            "256)");
  q = question(RunObjective::goodput);
  q.run.step.slow = {{.stage = 0}};
  EXPECT_NE(refusal(q).find("forecast.step.slow"), std::string::npos);
  q = question(RunObjective::goodput);
  q.run.failures = "nobody";
  EXPECT_NE(refusal(q).find("forecast.failures"), std::string::npos);
  q = question(RunObjective::goodput);
  q.run.phases.resize(2);
  q.run.phases.front().share = 0.5;
  EXPECT_EQ(refusal(q).find("forecast.phases: "), 0U);
  q = question(RunObjective::goodput);
  q.run.elastic = ElasticQuestion{.least = 0.9};
  EXPECT_EQ(refusal(q).find("forecast.elastic: "), 0U);
  // The reason of a size without a plan stands beside the others.
  const auto result = found(question(RunObjective::goodput, {256, 104}));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_NE(result->sizes.back().no_run.find("no valid plan"), std::string::npos);
}

}  // namespace
}  // namespace orrery
