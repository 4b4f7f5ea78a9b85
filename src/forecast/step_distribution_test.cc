// What is said of a step's distribution, and what is refused.
#include "forecast/step_distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimate/built_in_scenario.h"
#include "forecast/time_law.h"

namespace orrery {
namespace {

const PredictedStep& sample_step() {
  static const PredictedStep kStep =
      *predict(scenario("llama-3-8b", "h100-sxm:1024", "tp=8,pp=4", 8192, 512), catalog());
  return kStep;
}
Result<StepDistribution> distribution(const StepQuestion& question) {
  return step_distribution(sample_step(), estimate(sample_step(), *load_uncertainty(catalog())),
                           question, catalog(), 2);
}

TEST(StepDistribution, WithoutSpreadIsTheEstimate) {
  const auto d = distribution({.variability = "none", .samples = 100});
  ASSERT_TRUE(d) << d.error().text();
  for (const auto& q : {d->times.p5, d->times.p50, d->times.p95, d->times.p99_9}) {
    EXPECT_EQ(q.value, d->predicted);
    EXPECT_EQ(q.low, q.high);
  }
  for (const TailShare& t : d->tail) EXPECT_EQ(t.share_of_p95, 0);
}

TEST(StepDistribution, SaysWhatMakesTheTail) {
  const auto d = distribution({.exceeds = Seconds(1e-3), .samples = 2000});
  ASSERT_TRUE(d) << d.error().text();
  const StepTimes& t = d->times;
  EXPECT_LT(t.p5.value, t.p50.value);
  EXPECT_LT(t.p50.value, t.p95.value);
  EXPECT_LE(t.p95.value, t.p99.value);
  EXPECT_LE(t.p99.value, t.p99_9.value);
  for (const auto& q : {t.p5, t.p50, t.p95, t.p99}) {
    EXPECT_LE(q.low, q.value);
    EXPECT_GE(q.high, q.value);
  }
  EXPECT_EQ(d->exceeds_share.value, 1);
  // Machines differ most in products, which are most of the step.
  EXPECT_EQ(d->tail.front().kind, VaryingWork::products);
  EXPECT_GT(d->tail.front().share_of_p95, 0.01);
  // The prediction's own error widens both sides.
  EXPECT_LT(d->together.p5.value, t.p5.value);
  EXPECT_GT(d->together.p95.value, t.p95.value);
  // Whoever does not wait for the slowest is faster.
  ASSERT_EQ(d->fewer.size(), 3u);
  EXPECT_LT(d->fewer[1].p95, d->fewer[0].p95);
  EXPECT_LT(d->fewer[2].p95, d->fewer[1].p95);
  ASSERT_EQ(d->slow_stages.size(), 4u);
  // The last stage has the logits: a slow node there costs the most, and elsewhere next to nothing.
  EXPECT_EQ(std::ranges::max(d->slow_stages, {}, &SlowStage::over_p95).stage, 3);
  EXPECT_GT(d->slow_stages[3].over_p95, 1.05);
  for (const SlowStage& s : d->slow_stages) EXPECT_GE(s.over_p95, 1);
}

// The prediction is the median of steps without slow nodes; a slow node makes steps longer than it.
TEST(StepDistribution, IsCentredOnThePrediction) {
  const auto d = distribution({.samples = 1000});
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_NEAR(d->times.p50.value / d->predicted, 1, 1e-12);
  EXPECT_LT(d->scale, 1);  // waiting for the slowest costs something
  const auto slow =
      distribution({.slow = {{.stage = 3, .nodes = 1, .time = 1.5}}, .samples = 1000});
  ASSERT_TRUE(slow) << slow.error().text();
  EXPECT_EQ(slow->scale, d->scale);
  EXPECT_GT(slow->times.p50.value / slow->predicted, 1.05);
}

// One normal factor for every interval: the two halves meet at the median.
TEST(StepDistribution, TogetherHasTheIntervalOfTheEstimateWhereNothingVaries) {
  const auto d = distribution({.variability = "none", .samples = 20'000});
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_NEAR(d->together.p5.value / d->interval.low, 1, 0.01);
  EXPECT_NEAR(d->together.p95.value / d->interval.high, 1, 0.01);
  EXPECT_NEAR(d->together.p50.value / d->predicted, 1, 0.01);
}

TEST(StepDistribution, RefusesWhatCannotBe) {
  const auto refused = [](const StepQuestion& q) {
    const auto d = distribution(q);
    return d ? std::string("accepted") : d.error().text();
  };
  EXPECT_EQ(refused({.spread = "products.spatial=-0.1"}),
            "forecast.step.spread: products.spatial: a spread of -0.1 (write a coefficient of "
            "variation between 0 and 5)");
  EXPECT_EQ(refused({.spread = "products.temporal=nan"}),
            "forecast.step.spread: products.temporal: a spread of nan (write a coefficient of "
            "variation between 0 and 0.5)");
  EXPECT_EQ(refused({.spread = "communication.correlation=1.5"}),
            "forecast.step.spread: communication.correlation: a correlation of 1.5 (write one "
            "between 0 and 1)");
  EXPECT_EQ(refused({.spread = "products.spatial=much"}),
            "forecast.step.spread: products.spatial: 'much' is not a number");
  EXPECT_NE(refused({.spread = "gemm=0.1"}).find("'gemm=0.1' sets no spread (write KEY=NUMBER"),
            std::string::npos);
  EXPECT_EQ(refused({.variability = "prsm"}),
            "forecast.step.variability: no 'prsm' among the variability of the catalog (did you "
            "mean 'prism'?)");
  EXPECT_EQ(refused({.slow = {{.stage = 4}}}),
            "forecast.step.slow: there is no stage 4 (write a stage from 0 to 3)");
  EXPECT_EQ(refused({.slow = {{.stage = 0, .nodes = 1, .time = 0.5}}}),
            "forecast.step.slow: a slow node that takes 0.5 times as long (write a factor between "
            "1 and 1000)");
  EXPECT_EQ(refused({.slow = {{.stage = 1}, {.stage = 1}}}),
            "forecast.step.slow: stage 1 is given twice (write one entry for each stage)");
  EXPECT_EQ(refused({.samples = 1}),
            "forecast.step.samples: 1 samples (write 100 to 1000000: quantiles of fewer mean "
            "little)");
}

TEST(Variability, OfTheCatalogIsSound) {
  for (const std::string& name : catalog().names("variability")) {
    const auto v = load_variability(catalog(), name);
    ASSERT_TRUE(v) << v.error().text();
    EXPECT_EQ(v->name, name);
    EXPECT_NE(v->provenance.source, "");
  }
  // The middle of the published ranges, and one collective in 100,000 that takes ten times the mean.
  const Variability v = *load_variability(catalog(), "prism");
  EXPECT_NEAR(v.products.spatial, std::sqrt(0.0164 * 0.1404), 5e-4);
  EXPECT_NEAR(v.products.temporal, std::sqrt(0.0098 * 0.0646), 5e-4);
  const double s = std::sqrt(std::log1p(std::pow(v.communication.between_nodes, 2)));
  EXPECT_NEAR(std::exp(s * normal_quantile(1 - 1e-5) - s * s / 2), 10, 0.1);
}

}  // namespace
}  // namespace orrery
