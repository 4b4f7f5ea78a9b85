#include "validate/step_spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace orrery {
namespace {

StepPoint point(const std::string& source, const std::string& architecture = "hopper") {
  return {.accelerator = "a",
          .architecture = architecture,
          .accelerators = 8,
          .parameters_b = 7,
          .kind = "dense",
          .sequence = 4096,
          .software = "s",
          .source = source};
}

StepSpread fitted(const std::vector<LeftOutStep>& steps) {
  std::vector<StepPoint> measured;
  for (const LeftOutStep& step : steps) measured.push_back(step.point);
  return spread_of(steps, measured, 0.9);
}

// So many sources of as many steps, whose parts are off by the given deviations.
std::vector<LeftOutStep> drawn(const StepDeviations& d, int sources, int rows) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> share(0, 0.5);
  std::vector<LeftOutStep> out;
  for (int s = 0; s < sources; ++s) {
    for (int i = 0; i < rows; ++i) {
      const StepShares x = {share(random), share(random), share(random)};
      out.push_back({point(std::to_string(s)), x, deviation(d, x, sources - 1) * normal(random)});
    }
  }
  return out;
}

TEST(StepSpread, FindsTheDeviationsThatStepsWereDrawnWith) {
  const StepDeviations d = {.step = 0.05, .attention = 0.4, .network = 0.2, .waiting = 0};
  const StepSpread u = fitted(drawn(d, 40, 200));
  // Student's distribution puts the same draws at 0.86 of their deviation (kDegrees of 4).
  const double scale = u.deviations.attention / d.attention;
  EXPECT_NEAR(scale, 0.86, 0.05);
  EXPECT_NEAR(u.deviations.step / d.step, scale, 0.1);
  EXPECT_NEAR(u.deviations.network / d.network, scale, 0.1);
  EXPECT_LT(u.deviations.waiting, 0.05);
  EXPECT_NEAR(u.high * scale, 1.645, 0.1);  // 95 % of normal draws
  EXPECT_NEAR(u.low * scale, -1.645, 0.1);
}

// Nine sources of one step each and one of a thousand: a tenth of the weight is the large one's.
TEST(StepSpread, SourcesCountAndNotTheirSteps) {
  std::vector<LeftOutStep> steps;
  for (int i = 0; i < 9; ++i) {
    steps.push_back({point(std::to_string(i)), {}, i % 2 == 0 ? 0.05 : -0.05});
  }
  const StepSpread without = fitted(steps);
  for (int i = 0; i < 1000; ++i) steps.push_back({point("large"), {}, i % 2 == 0 ? 0.05 : -0.05});
  const StepSpread with = fitted(steps);
  EXPECT_NEAR(without.high * deviation(without.deviations, {}, 8), 0.05, 1e-9);
  EXPECT_NEAR(with.high * deviation(with.deviations, {}, 9), 0.05, 1e-9);
  for (int i = 0; i < 1000; ++i) steps.push_back({point("large"), {}, 1});
  const StepSpread far = fitted(steps);
  EXPECT_GT(far.high * deviation(far.deviations, {}, 9), 0.9);  // half of a tenth lies there
  EXPECT_NEAR(far.low * deviation(far.deviations, {}, 9), -0.05, 1e-9);
}

TEST(StepSpread, MissesToOneSideMoveOneEnd) {
  std::vector<LeftOutStep> steps = drawn({.step = 0.05}, 20, 20);
  for (LeftOutStep& step : steps) step.log_ratio = std::abs(step.log_ratio);
  const StepSpread u = fitted(steps);
  EXPECT_EQ(u.low, 0);
  EXPECT_GT(u.high, 1.5);
}

// The same errors where fewer sources measured are those of a smaller deviation.
TEST(StepSpread, ErrorsWhereFewSourcesMeasuredAreExpectedToBeLarger) {
  std::vector<LeftOutStep> steps;
  for (int i = 0; i < 10; ++i) {
    steps.push_back({point(std::to_string(i), i < 8 ? "ampere" : "volta"), {}, i % 2 ? 0.1 : -0.1});
  }
  const StepSpread u = fitted(steps);
  std::vector<LeftOutStep> known = steps;
  for (LeftOutStep& step : known) step.point.architecture = "ampere";
  EXPECT_LT(u.deviations.step, fitted(known).deviations.step);
}

TEST(StepSpread, DoesNotDependOnTheOrderOfSteps) {
  std::vector<LeftOutStep> steps = drawn({.step = 0.05, .attention = 0.2}, 6, 9);
  const StepSpread forward = fitted(steps);
  std::ranges::reverse(steps);
  const StepSpread backward = fitted(steps);
  EXPECT_EQ(forward.deviations, backward.deviations);
  EXPECT_EQ(forward.low, backward.low);
  EXPECT_EQ(forward.high, backward.high);
}

TEST(StepSpread, WithoutStepsThereIsNone) {
  const StepSpread u = fitted({});
  EXPECT_EQ(u.deviations, StepDeviations{});
  EXPECT_EQ(u.high, 0);
}

}  // namespace
}  // namespace orrery
