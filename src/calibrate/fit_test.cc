#include "calibrate/fit.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <array>
#include <cmath>

namespace orrery {
namespace {

// NIST StRD "Misra1a" (lower difficulty): y = b1 (1 - exp(-b2 x)).
// Certified: b1 = 238.94212918, b2 = 5.5015643181e-4, standard deviations 2.7070075241 and
// 7.2668688436e-6, residual sum of squares 0.12455138894.
constexpr std::array<double, 14> kMisraY = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                                            44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};
constexpr std::array<double, 14> kMisraX = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                            378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};

void misra(std::span<const double> b, std::span<double> r) {
  for (std::size_t i = 0; i < r.size(); ++i) {
    r[i] = b[0] * (1 - std::exp(-b[1] * kMisraX[i])) - kMisraY[i];
  }
}

TEST(Fit, MeetsACertifiedRegression) {
  const std::vector<FitParameter> p = {{"b1", "", 500, 1, 1000, 1e-6},
                                       {"b2", "", 1e-4, 1e-5, 1e-2, 1e-6}};
  const auto result =
      fit(p, kMisraX.size(), misra, {.robust_scale = 0, .max_iterations = 500, .more_starts = {}});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->converged);
  EXPECT_NEAR(result->parameters[0].value / 238.94212918, 1, 1e-4);
  EXPECT_NEAR(result->parameters[1].value / 5.5015643181e-4, 1, 1e-4);
  EXPECT_NEAR(*result->parameters[0].standard_error / 2.7070075241, 1, 1e-3);
  EXPECT_NEAR(*result->parameters[1].standard_error / 7.2668688436e-6, 1, 1e-3);
  EXPECT_NEAR(2 * result->cost, 0.12455138894, 1e-6);
  EXPECT_EQ(result->covariance[1], result->covariance[2]);
}

// y = a + b x with every eighth row ten times too high.
TEST(Fit, RowsFarOffPullLittle) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 1; i <= 80; ++i) {
    x.push_back(i);
    y.push_back((2 + 3.0 * i) * (i % 8 == 0 ? 10 : 1));
  }
  const Residuals log_error = [&](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = std::log((p[0] + p[1] * x[i]) / y[i]);
  };
  const std::vector<FitParameter> p = {{"a", "", 1, 0.1, 10, 1e-5}, {"b", "", 1, 0.1, 10, 1e-5}};
  const auto robust =
      fit(p, x.size(), log_error, {.robust_scale = 0.01, .max_iterations = 500, .more_starts = {}});
  const auto plain =
      fit(p, x.size(), log_error, {.robust_scale = 0, .max_iterations = 500, .more_starts = {}});
  ASSERT_TRUE(robust && plain);
  EXPECT_NEAR(robust->parameters[1].value, 3, 0.03);
  EXPECT_GT(plain->parameters[1].value, 3.5);
}

TEST(Fit, StaysWithinItsBoundsAndSaysSo) {
  const Residuals pull = [](std::span<const double> p, std::span<double> r) {
    r[0] = p[0] - 5;
    r[1] = p[1] - 0.5;
    r[2] = 0.1;
  };
  const std::vector<FitParameter> p = {{"far", "", 0.5, 0, 1, 1e-3}, {"near", "", 0.1, 0, 1, 1e-3}};
  const auto result =
      fit(p, 3, pull, {.robust_scale = 0, .max_iterations = 100, .more_starts = {}});
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->parameters[0].value, 1);
  EXPECT_TRUE(result->parameters[0].at_bound);
  EXPECT_FALSE(result->parameters[0].standard_error);
  EXPECT_NEAR(result->parameters[1].value, 0.5, 1e-4);
  EXPECT_TRUE(result->parameters[1].standard_error);
}

TEST(Fit, WhatTheRowsDoNotSeeHasNoError) {
  const Residuals blind = [](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = p[0] - 0.3 + 0.01 * (i % 2 == 0 ? 1 : -1);
  };
  const std::vector<FitParameter> p = {{"seen", "", 0.5, 0, 1, 1e-3},
                                       {"unseen", "", 0.5, 0, 1, 1e-3}};
  const auto result = fit(p, 10, blind);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->parameters[0].standard_error);
  EXPECT_FALSE(result->parameters[1].standard_error);
}

TEST(Fit, TheBestOfSeveralStartsIsKept) {
  const Residuals two_valleys = [](std::span<const double> p, std::span<double> r) {
    const double x = p[0];
    r[0] = std::min(std::abs(x - 1) + 0.5, std::abs(x - 9));
  };
  const std::vector<FitParameter> p = {{"x", "", 0.5, 0, 10, 1e-4}};
  const auto result =
      fit(p, 1, two_valleys, {.robust_scale = 0, .max_iterations = 200, .more_starts = {{8.0}}});
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->parameters[0].value, 9, 1e-3);
}

// A sum over 2,000 rows does not fit into either cache and would be cut in different places.
TEST(Fit, IsTheSameToTheLastBitWhateverTheCachesOfTheMachine) {
  constexpr std::size_t kRows = 2000;
  constexpr std::size_t kParameters = 24;
  std::vector<double> sines(kRows * kParameters);
  for (std::size_t i = 0; i < sines.size(); ++i) {
    const std::size_t row = i / kParameters;
    const std::size_t harmonic = i % kParameters + 1;
    sines[i] = std::sin(1e-3 * static_cast<double>(harmonic * row));
  }
  const Residuals harmonics = [&](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < kRows; ++i) {
      r[i] = 0.1 * static_cast<double>(i % 7) - 0.3;
      for (std::size_t k = 0; k < kParameters; ++k) r[i] += p[k] * sines[i * kParameters + k];
    }
  };
  std::vector<FitParameter> p;
  for (std::size_t k = 0; k < kParameters; ++k) {
    p.push_back({"a" + std::to_string(k), "", 0, -9, 9, 1e-6});
  }
  std::vector<Fit> fits;
  for (const std::ptrdiff_t kibibytes : {16, 64}) {
    Eigen::setCpuCacheSizes(kibibytes << 10, kibibytes << 13, kibibytes << 17);
    const auto result =
        fit(p, kRows, harmonics, {.robust_scale = 0, .max_iterations = 3, .more_starts = {}});
    ASSERT_TRUE(result);
    fits.push_back(*result);
  }
  EXPECT_EQ(fits[0].values(), fits[1].values());
  EXPECT_EQ(fits[0].covariance, fits[1].covariance);
}

TEST(Fit, RefusesWhatCannotBeFitted) {
  const std::vector<FitParameter> p = {{"a", "", 0.5, 0, 1, 1e-3}, {"b", "", 0.5, 0, 1, 1e-3}};
  const auto few = fit(p, 1, [](auto, auto) {});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().text(),
            "fit: 1 rows cannot determine 2 parameters (at least one parameter, and at least as "
            "many rows)");
  const std::vector<FitParameter> outside = {{"a", "", 2, 0, 1, 1e-3}};
  const auto start = fit(outside, 3, [](auto, auto) {});
  ASSERT_FALSE(start);
  EXPECT_EQ(start.error().text(), "fit: a start of 'a' is outside its bounds");
  const std::vector<FitParameter> one = {{"a", "", 0.5, 0, 1, 1e-3}};
  const auto infinite =
      fit(one, 1, [](std::span<const double>, std::span<double> r) { r[0] = HUGE_VAL; });
  ASSERT_FALSE(infinite);
  EXPECT_EQ(infinite.error().text(), "fit: the residuals at a start are not finite");
}

}  // namespace
}  // namespace orrery
