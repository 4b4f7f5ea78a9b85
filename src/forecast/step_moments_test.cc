// Moments against closed forms and against samples.
#include "forecast/step_moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimate/built_in_scenario.h"
#include "forecast/time_law.h"

namespace orrery {
namespace {

PredictedStep step_of(const char* plan, const char* cluster = "h100-sxm:256") {
  return *predict(scenario("llama-3-8b", cluster, plan, 8192, 256), catalog());
}

TEST(StepMoments, WithoutSpreadAreThePredictedStep) {
  const PredictedStep step = step_of("tp=4,pp=4,chunks=2");
  const auto moments = step_moments(VaryingStep(step), {.variability = {}});
  ASSERT_TRUE(moments);
  EXPECT_EQ(moments->mean, step.folded.time.seconds());
  EXPECT_EQ(moments->deviation, Seconds(0));
}

// Of one rank that waits for nobody, means and variances add up.
TEST(StepMoments, OfASerialStepAddUp) {
  const PredictedStep step = *predict(scenario("llama-3-8b", "h100-sxm:1", "", 2048, 4), catalog());
  const VaryingStep work(step);
  StepDraws draws{.variability = {}};
  draws.variability.products.temporal = 0.1;
  const auto moments = step_moments(work, draws);
  ASSERT_TRUE(moments);
  double variance = 0;
  for (std::size_t n = 0; n < step.folded.step.graph.size(); ++n) {
    const double noise = 0.1 * work.shapes()[work.shape_of(n)].part[0];
    variance += noise * noise;
  }
  EXPECT_GT(variance, 0);
  EXPECT_EQ(moments->mean, step.folded.time.seconds());
  EXPECT_NEAR(moments->deviation.value(), std::sqrt(variance) * 1e-12, 2e-12);
  // Who waits for one time alone is not late, however much that varies.
  draws.variability.products.temporal = 0.5;
  EXPECT_EQ(step_moments(work, draws)->mean, step.folded.time.seconds());
  // With one state of the accelerator for all of the step, deviations add up instead.
  draws.variability.products = {.spatial = 0.1};
  const double spatial = step_moments(work, draws)->deviation.value();
  EXPECT_NEAR(spatial, 0.1 * work.parts(0)[0] * 1e-12, spatial * 0.01);
}

TEST(StepMoments, AgreeWithSamples) {
  const Variability prism = *load_variability(catalog(), "prism");
  for (const char* plan : {"tp=8,pp=1", "tp=4,pp=4", "tp=8,pp=8,chunks=2", "tp=1,pp=1,zero=3"}) {
    const PredictedStep step = step_of(plan);
    const VaryingStep work(step);
    const StepDraws draws{.variability = prism};
    const auto moments = step_moments(work, draws);
    ASSERT_TRUE(moments);
    const StepSamples samples = sample_steps(work, draws, 2000, 2);
    std::vector<double> times;
    for (std::size_t i = 0; i < samples.times_ps.size(); i += samples.kept) {
      times.push_back(samples.times_ps[i] * 1e-12);
    }
    std::ranges::sort(times);
    EXPECT_NEAR(moments->quantile(0.5).value() / times[times.size() / 2], 1, 0.02) << plan;
    EXPECT_NEAR(moments->quantile(0.95).value() / times[times.size() * 95 / 100], 1, 0.03) << plan;
  }
}

TEST(StepMoments, AreAbsentWhereTheyDoNotHold) {
  const PredictedStep step = step_of("tp=4,pp=4");
  StepDraws draws{.variability = {}};
  draws.slow.push_back({.stage = 1});
  EXPECT_FALSE(step_moments(VaryingStep(step), draws));
}

}  // namespace
}  // namespace orrery
