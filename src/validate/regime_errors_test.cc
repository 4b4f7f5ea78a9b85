#include "validate/regime_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

const RegimeError& of(const std::vector<RegimeError>& errors, const Regime& regime) {
  return *std::find_if(errors.begin(), errors.end(),
                       [&](const RegimeError& e) { return e.regime == regime; });
}

// Evenly spread over [-width, width].
std::vector<RegimeResidual> spread(const Regime& regime, int n, double width) {
  std::vector<RegimeResidual> out;
  for (int i = 0; i < n; ++i) {
    out.push_back({regime, width * (2 * (i + 0.5) / n - 1)});
  }
  return out;
}

TEST(RegimeErrors, OfOneRegimeAreItsQuantiles) {
  const auto errors = regime_errors(spread({"hopper", "to 64", "16 bit"}, 10000, 1), 0.9);
  EXPECT_EQ(errors.size(), 4u);
  EXPECT_NEAR(of(errors, {}).low, -0.9, 1e-3);
  EXPECT_NEAR(of(errors, {"hopper", "to 64", "16 bit"}).high, 0.9, 1e-3);
}

TEST(RegimeErrors, OfSourcesLeftOutAreOfArchitecturesOfEnoughRows) {
  auto residuals = spread({"hopper", "to 64", "16 bit"}, 39, 39);
  const auto few = spread({"cdna3", "to 64", "16 bit"}, kRowsOfAnArchitecture - 1, 1);
  residuals.insert(residuals.end(), few.begin(), few.end());
  const auto errors = left_out_errors(residuals, 0.9);
  ASSERT_EQ(errors.size(), 2u);                                        // all and hopper
  EXPECT_NEAR(of(errors, {.architecture = "hopper"}).low, -36, 1e-9);  // not drawn to all
  EXPECT_EQ(of(errors, {}).rows, 39 + kRowsOfAnArchitecture - 1);
}

TEST(RegimeErrors, OfFewAreTheirExtremes) {
  const auto errors = regime_errors(spread({"hopper", "to 64", "16 bit"}, 10, 1), 0.9);
  EXPECT_DOUBLE_EQ(of(errors, {}).low, -0.9);
  EXPECT_DOUBLE_EQ(of(errors, {}).high, 0.9);
  // 39 steps: the second smallest, which a fortieth undercuts with 2 / 40.
  const auto more = regime_errors(spread({"hopper", "to 64", "16 bit"}, 39, 39), 0.9);
  EXPECT_NEAR(of(more, {}).low, -36, 1e-9);
}

TEST(RegimeErrors, FewRowsAreDrawnTowardsTheWiderRegime) {
  std::vector<RegimeResidual> residuals = spread({"hopper", "to 64", "16 bit"}, 2000, 1);
  const auto few = spread({"volta", "one node", "16 bit"}, 5, 0.01);
  residuals.insert(residuals.end(), few.begin(), few.end());
  const auto errors = regime_errors(residuals, 0.9);
  const double wide = of(errors, {}).high;
  const double narrow = of(errors, {"volta", "*", "*"}).high;
  EXPECT_GT(narrow, 0.5 * wide);  // 5 own rows against 15
  EXPECT_LT(narrow, wide);
  // Each further class uses the same rows again and comes nearer to them.
  EXPECT_LT(of(errors, {"volta", "one node", "*"}).high, narrow);
}

TEST(RegimeErrors, DoNotDependOnTheOrderOfRows) {
  std::vector<RegimeResidual> residuals = spread({"hopper", "to 64", "16 bit"}, 40, 1);
  const auto other = spread({"ampere", "to 64", "narrow"}, 30, 0.3);
  residuals.insert(residuals.end(), other.begin(), other.end());
  const auto forward = regime_errors(residuals, 0.9);
  std::reverse(residuals.begin(), residuals.end());
  EXPECT_EQ(regime_errors(residuals, 0.9), forward);
}

TEST(RegimeErrors, WithoutRowsThereIsOneRegime) {
  const auto errors = regime_errors({}, 0.9);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].regime, Regime{});
}

}  // namespace
}  // namespace orrery
