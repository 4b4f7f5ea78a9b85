#include "forecast/run_phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "estimate/spec.h"
#include "forecast/run_forecast.h"

namespace orrery {
namespace {

Scenario scenario_of_8b(std::int64_t batch, std::int64_t sequence_length) {
  Scenario s;
  s.model = *load_model("llama-3-8b", Catalog::built_in());
  s.cluster = *parse_cluster("h100-sxm:64", Catalog::built_in());
  s.training.sequence_length = sequence_length;
  s.training.global_batch = batch;
  s.plan = *parse_plan("tp=2");
  return s;
}

const PredictedStep& step_of_8b() {
  static const PredictedStep kStep = *predict(scenario_of_8b(512, 8192), Catalog::built_in());
  return kStep;
}

RunQuestion run_of_200b(std::vector<RunPhase> phases = {}) {
  RunQuestion q;
  q.tokens = "200B";
  q.runs = 200;
  q.phases = std::move(phases);
  return q;
}

Result<RunForecast> forecast_of_8b(const RunQuestion& q) {
  return forecast(step_of_8b(), estimate(step_of_8b()), q, std::nullopt, Catalog::built_in(),
                  {.threads = 2});
}

RunPhase phase_of_tokens(std::string tokens) {
  RunPhase phase;
  phase.tokens = std::move(tokens);
  return phase;
}

TEST(RunPhases, ThatAreAlikeAreOneRun) {
  const auto whole = forecast_of_8b(run_of_200b());
  const auto cut =
      forecast_of_8b(run_of_200b({phase_of_tokens("3B"), phase_of_tokens("77.7B"), {}}));
  ASSERT_TRUE(whole && cut) << cut.error().text();
  EXPECT_EQ(cut->phases.size(), 3u);
  EXPECT_EQ(cut->steps, whole->steps);
  EXPECT_EQ(cut->wall.p95.value, whole->wall.p95.value);
  EXPECT_EQ(cut->wall.mean, whole->wall.mean);
}

// One predict: the step of a phase is that of its own batch and sequence length.
TEST(RunPhases, TakeTheStepsThatArePredictedForThem) {
  RunPhase shorter = phase_of_tokens("20B");
  shorter.global_batch = 256;
  shorter.sequence_length = 4096;
  const auto run = forecast_of_8b(run_of_200b({shorter, {}}));
  ASSERT_TRUE(run) << run.error().text();
  const auto alone = *predict(scenario_of_8b(256, 4096), Catalog::built_in());
  EXPECT_EQ(run->phases[0].step_time, estimate(alone).step_time);
  EXPECT_EQ(run->phases[1].step_time, estimate(step_of_8b()).step_time);
  EXPECT_EQ(run->phases[0].steps, std::llround(std::ceil(20e9 / (256 * 4096))));
  double tokens = 0;
  Seconds sum = std::accumulate(run->badput.begin(), run->badput.end(), Seconds(0));
  for (const ForecastPhase& phase : run->phases) {
    tokens += phase.tokens;
    sum += phase.healthy();
  }
  EXPECT_GE(tokens, 200e9);
  EXPECT_LT(tokens, 200e9 + 512 * 8192);
  EXPECT_NEAR(sum / run->wall.mean, 1, 1e-9);
}

TEST(RunPhases, TakeLongerInProportionWhereEveryStepDoes) {
  RunPhase shorter = phase_of_tokens("20B");
  shorter.sequence_length = 4096;
  RunQuestion q = run_of_200b({shorter, {}});
  q.step.samples = 200;
  const auto predicted = forecast_of_8b(q);
  q.step_at = StepOfRun::p95;
  const auto longer = forecast_of_8b(q);
  ASSERT_TRUE(predicted && longer) << longer.error().text();
  const double ratio = longer->step_time / predicted->step_time;
  EXPECT_GT(ratio, 1.001);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(longer->phases[i].step_time / predicted->phases[i].step_time, ratio, 1e-12);
    EXPECT_EQ(longer->phases[i].steps, predicted->phases[i].steps);
  }
  EXPECT_NEAR(longer->healthy / predicted->healthy, ratio, 1e-12);
}

// Megatron-LM's rule, walked step by step.
TEST(BatchRamp, GrowsAsThatOfMegatron) {
  RunQuestion q = run_of_200b();
  const double samples = 300'000;
  q.batch_ramp = BatchRamp{128, 64, std::to_string(samples * 8192)};
  const auto phases =
      phases_of(step_of_8b(), estimate(step_of_8b()), q, 200e9, Catalog::built_in());
  ASSERT_TRUE(phases) << phases.error().text();
  std::map<std::int64_t, std::int64_t> steps;
  const double increments = 6;  // of 64, from 128 to 512
  for (double consumed = 0; consumed * 8192 < 200e9;) {
    const auto batch = std::min<std::int64_t>(
        512, 128 + 64 * static_cast<std::int64_t>(consumed / (samples / increments)));
    ++steps[batch];
    consumed += static_cast<double>(batch);
  }
  ASSERT_EQ(phases->size(), steps.size());
  for (const ForecastPhase& phase : *phases) {
    EXPECT_EQ(phase.steps, steps[phase.global_batch]) << phase.name;
  }
}

TEST(RunPhases, ThatCannotRunAreRefusedByName) {
  const auto refusal = [](const RunQuestion& q) {
    const auto run = forecast_of_8b(q);
    return run ? std::string() : run.error().text();
  };
  RunPhase odd = phase_of_tokens("20B");
  odd.name = "warm-up";
  odd.global_batch = 100;
  EXPECT_THAT(refusal(run_of_200b({odd, {}})),
              testing::StartsWith("forecast.phases, warm-up: plan: "));
  RunPhase large;
  large.plan = "tp=1,zero=0";
  EXPECT_THAT(
      refusal(run_of_200b({phase_of_tokens("20B"), large})),
      testing::HasSubstr("forecast.phases, phase 2: plan: the plan does not fit: it needs"));
  EXPECT_EQ(refusal(run_of_200b({phase_of_tokens("200B"), {}})),
            "forecast.phases, phase 2: the other phases leave no step for the last one (write a "
            "longer run, or shorter phases)");
  EXPECT_EQ(
      refusal(run_of_200b({{}, {}})),
      "forecast.phases[0]: exactly one of tokens, steps and share is needed (write one of them)");
  EXPECT_EQ(refusal(run_of_200b({phase_of_tokens("20B")})),
            "forecast.phases[0]: the last phase states its length (leave it out: it lasts until "
            "the run ends)");
  RunQuestion ramp = run_of_200b();
  ramp.batch_ramp = BatchRamp{128, 100, "1B"};
  EXPECT_EQ(refusal(ramp),
            "forecast.batch_ramp: from 128 by 100 does not lead to the batch of 512 (write a "
            "difference to it that is a multiple of `by`)");
  ramp.batch_ramp = BatchRamp{1, 1, "1B"};
  EXPECT_EQ(refusal(ramp), "forecast.batch_ramp: 511 batches (write a larger `by`: 100 at most)");
}

TEST(RunParts, StandInTheForecast) {
  RunQuestion q = run_of_200b();
  q.spares = 0;
  q.repair = TimeLaw{.mean = Seconds(40 * 3600)};
  q.failures = "ant-2023";
  const auto waits = forecast_of_8b(q);
  q.elastic = ElasticQuestion{0.8};
  q.racks = FailingRacks{2, 0.1};
  q.planned = PlannedQuestion{Seconds(86400), {.mean = Seconds(1800)}};
  const auto goes_on = forecast_of_8b(q);
  ASSERT_TRUE(waits && goes_on) << goes_on.error().text();
  EXPECT_LT(goes_on->wall.mean, waits->wall.mean);
  EXPECT_GT(goes_on->planned, 0);
  EXPECT_GT(goes_on->badput[static_cast<std::size_t>(Badput::fewer_replicas)], Seconds(0));
  q.planned->every.reset();
  EXPECT_EQ(forecast_of_8b(q).error().text(),
            "forecast.planned.every: how often the run is stopped is not given, and ant-2023 does "
            "not say it (write every: 27 h)");
}

TEST(RunForecastOfALoss, IsThatOfItsTokens) {
  RunQuestion q = run_of_200b();
  q.tokens.clear();
  q.loss = 2.1;
  const auto run = forecast_of_8b(q);
  ASSERT_TRUE(run) << run.error().text();
  ASSERT_TRUE(run->loss);
  EXPECT_EQ(run->loss->extra_share, 0);
  q.tokens = std::to_string(*run->tokens);
  q.loss.reset();
  q.law = kUsualLaw;
  const auto same = forecast_of_8b(q);
  EXPECT_EQ(same->wall.mean, run->wall.mean);
  EXPECT_NEAR(same->loss->run.loss, 2.1, 1e-6);
  EXPECT_NEAR(run->loss->batch, 512 * 8192, 0.5);
}

// The cost is the time, so that the runs within a budget are those within the time that it buys.
TEST(Budget, IsTheTimeThatItBuys) {
  RunQuestion q = run_of_200b();
  const auto run = forecast_of_8b(q);
  q.within = run->wall.p50.value;
  q.budget = std::to_string(run->cost(*q.within).value() * (1 + 1e-9)) + "$";
  const auto asked = forecast_of_8b(q);
  ASSERT_TRUE(asked) << asked.error().text();
  EXPECT_EQ(asked->costs_at_most.value, asked->ends_within.value);
  EXPECT_EQ(*parse_budget("10M$"), Dollars(10e6));
  EXPECT_EQ(*parse_budget("2.5B$"), Dollars(2.5e9));
  for (const char* wrong : {"", "$", "-3M$", "nan", "1e99$", "10 M$"}) {
    EXPECT_FALSE(parse_budget(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace orrery
