#include "validate/regime_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace orrery {
namespace {

const RegimeError& of(const std::vector<RegimeError>& errors, const Regime& regime) {
  return *std::find_if(errors.begin(), errors.end(),
                       [&](const RegimeError& e) { return e.regime == regime; });
}

// Evenly spread over [-width, width], in turn of so many sources; 0: each of its own.
std::vector<RegimeResidual> spread(const Regime& regime, int n, double width, int sources = 0) {
  std::vector<RegimeResidual> out;
  for (int i = 0; i < n; ++i) {
    const std::string source = std::to_string(sources > 0 ? i % sources : i);
    out.push_back({regime, source, width * (2 * (i + 0.5) / n - 1)});
  }
  return out;
}

TEST(RegimeErrors, OfOneRegimeAreItsQuantiles) {
  const auto errors = regime_errors(spread({"hopper", "to 64", "16 bit"}, 10000, 1), 0.9);
  EXPECT_EQ(errors.size(), 4u);
  EXPECT_NEAR(of(errors, {}).low, -0.9, 1e-3);
  EXPECT_NEAR(of(errors, {"hopper", "to 64", "16 bit"}).high, 0.9, 1e-3);
}

// Sources whose rows scatter by 0.3 about means of their own, which scatter by 0.2.
TEST(BetweenSources, IsWhatTheMeansOfSourcesScatterBeyondTheirRows) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> sources(400);
  for (auto& rows : sources) {
    const double mean = 0.2 * normal(random);
    for (int i = 0; i < 12; ++i) rows.push_back(mean + 0.3 * normal(random));
  }
  const BetweenSources b = between_sources(sources);
  EXPECT_EQ(b.sources, 400);
  EXPECT_NEAR(b.deviation, 0.2, 0.02);
  EXPECT_NEAR(b.half_width / b.deviation, 1.649, 1e-3);  // Student's 95 % of 400
  sources.resize(10);
  const BetweenSources few = between_sources(sources);
  EXPECT_NEAR(few.half_width / few.deviation, 1.812, 1e-2);  // of 10
}

TEST(BetweenSources, IsNothingWhereRowsExplainAllOrSourcesAreFew) {
  EXPECT_EQ(between_sources({}), BetweenSources{});
  const std::vector<std::vector<double>> one = {{0.3, 0.4, 0.5}};
  EXPECT_EQ(between_sources(one), BetweenSources{});
  const std::vector<std::vector<double>> centred = {{-0.1, 0.1}, {0.2, -0.2}, {-0.3, 0.3}};
  EXPECT_EQ(between_sources(centred).half_width, 0);
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
  const auto few = spread({"volta", "one node", "16 bit"}, 3, 0.01);
  residuals.insert(residuals.end(), few.begin(), few.end());
  const auto errors = regime_errors(residuals, 0.9);
  const double wide = of(errors, {}).high;
  const double narrow = of(errors, {"volta", "*", "*"}).high;
  EXPECT_GT(narrow, 0.5 * wide);  // 3 own sources against 4
  EXPECT_LT(narrow, wide);
  // Each further class uses the same rows again and comes nearer to them.
  EXPECT_LT(of(errors, {"volta", "one node", "*"}).high, narrow);
}

// Many rows of one source say as little as one of its rows, and as many of equal sources as sources.
TEST(RegimeErrors, SourcesCountAndNotTheirRows) {
  const auto narrow = [](int rows, int sources) {
    std::vector<RegimeResidual> residuals = spread({"hopper", "to 64", "16 bit"}, 2000, 1);
    const auto few = spread({"volta", "one node", "16 bit"}, rows, 0, sources);
    residuals.insert(residuals.end(), few.begin(), few.end());
    const auto errors = regime_errors(residuals, 0.9);
    return of(errors, {"volta", "*", "*"}).high / of(errors, {}).high;
  };
  EXPECT_NEAR(narrow(10, 1), 4.0 / 5, 1e-9);
  EXPECT_NEAR(narrow(300, 1), 4.0 / 5, 1e-9);
  EXPECT_NEAR(narrow(300, 4), 4.0 / 8, 1e-9);
}

// Experts that are off by much leave the intervals of dense models on the same accelerators alone.
TEST(RegimeErrors, KindsOfModelsAreHeldApart) {
  std::vector<RegimeResidual> residuals = spread({"hopper", "to 64", "16 bit", "dense"}, 400, 0.1);
  const auto experts = spread({"hopper", "to 64", "16 bit", "mixture of experts"}, 100, 2);
  residuals.insert(residuals.end(), experts.begin(), experts.end());
  const auto errors = regime_errors(residuals, 0.9);
  EXPECT_LT(of(errors, {"hopper", "to 64", "16 bit", "dense"}).high, 0.1);
  EXPECT_GT(of(errors, {"hopper", "to 64", "16 bit", "mixture of experts"}).high, 1.5);
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
