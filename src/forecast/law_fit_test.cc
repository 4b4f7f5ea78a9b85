// Laws: quantiles and shares undo each other, fits find what was drawn, and the laws of sums and
// maxima hold.
#include "forecast/law_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "parallel/random_draws.h"

namespace orrery {
namespace {

std::vector<Seconds> drawn(const TimeLaw& law, std::size_t count, std::uint64_t run = 0) {
  std::vector<Seconds> out;
  const RandomDraws draws(3, run);
  for (std::size_t i = 0; i < count; ++i) out.push_back(time_at(law, draws.uniform(0, i)));
  return out;
}

TimeLaw normal_law() {
  return {.law = TimeForm::normal, .mean = Seconds(10), .deviation = Seconds(2)};
}
TimeLaw gamma_law() { return {.law = TimeForm::gamma, .mean = Seconds(10), .shape = 1.5}; }
TimeLaw log_normal_law() {
  return {.law = TimeForm::log_normal, .median = Seconds(10), .spread = 0.8};
}

TEST(LawFit, SharesUndoQuantiles) {
  for (const TimeLaw& law :
       {normal_law(), gamma_law(), log_normal_law(),
        TimeLaw{.law = TimeForm::gamma, .mean = Seconds(1), .shape = 2500},
        TimeLaw{.law = TimeForm::exponential, .mean = Seconds(3)},
        TimeLaw{.law = TimeForm::weibull, .mean = Seconds(3), .shape = 0.7},
        TimeLaw{.law = TimeForm::uniform, .least = Seconds(1), .most = Seconds(4)}}) {
    for (const double u : {0.001, 0.05, 0.5, 0.95, 0.999}) {
      EXPECT_NEAR(share_below(law, time_at(law, u)), u, 1e-9) << in_words(law);
    }
  }
  // Of shape 1 it is exponential.
  EXPECT_NEAR(time_at({.law = TimeForm::gamma, .mean = Seconds(2), .shape = 1}, 0.9).value(),
              -2 * std::log(0.1), 1e-9);
}

TEST(LawFit, FindsTheLawThatWasDrawn) {
  for (const TimeLaw& law : {normal_law(), gamma_law(), log_normal_law()}) {
    const auto fits = fit_laws(drawn(law, 5000));
    ASSERT_TRUE(fits) << fits.error().text();
    EXPECT_EQ(fits->front().law.law, law.law) << in_words(law);
    // The distance that a sample has to its own law (Kolmogorov, 5 %).
    EXPECT_LT(fits->front().distance, 1.36 / std::sqrt(5000.0)) << in_words(law);
    EXPECT_NEAR(time_at(fits->front().law, 0.95) / time_at(law, 0.95), 1, 0.03) << in_words(law);
  }
}

TEST(LawFit, SumsOfNormalsAddTheirVariancesAndMaximaArePowers) {
  constexpr std::size_t kParts = 16;
  constexpr std::size_t kDraws = 20'000;
  std::vector<Seconds> sums(kDraws);
  std::vector<Seconds> maxima(kDraws);
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::vector<Seconds> times = drawn(normal_law(), kDraws, part);
    for (std::size_t i = 0; i < kDraws; ++i) {
      sums[i] += times[i];
      maxima[i] = std::max(maxima[i], times[i]);
    }
  }
  const TimeLaw sum{.law = TimeForm::normal,
                    .mean = Seconds(10.0 * kParts),
                    .deviation = Seconds(2 * std::sqrt(kParts))};
  const double error = 1.36 / std::sqrt(static_cast<double>(kDraws));
  EXPECT_LT(kolmogorov_smirnov(sum, sums), error);
  std::ranges::sort(maxima);
  for (const double p : {0.05, 0.5, 0.95}) {
    const Seconds at = maxima[static_cast<std::size_t>(p * kDraws)];
    EXPECT_NEAR(std::pow(share_below(normal_law(), at), kParts), p, error);
  }
}

TEST(LawFit, TheLongestOfExponentialTimesHasTheHarmonicMean) {
  constexpr std::size_t kRanks = 64;
  double harmonic = 0;
  for (std::size_t i = 1; i <= kRanks; ++i) harmonic += 1 / static_cast<double>(i);
  const TimeLaw law{.law = TimeForm::exponential, .mean = Seconds(3)};
  double sum = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::vector<Seconds> times = drawn(law, kRanks, i);
    sum += std::ranges::max(times).value();
  }
  // The variance of the maximum is below mean^2 pi^2 / 6.
  EXPECT_NEAR(sum / 4000, 3 * harmonic, 4 * 3 * 1.29 / std::sqrt(4000.0));
}

TEST(LawFit, TooFewTimesAreRefusedInWords) {
  EXPECT_EQ(fit_laws(drawn(normal_law(), 1)).error().text(),
            "1 time where 20 are needed (record more steps: fewer say nothing of a distribution)");
  std::vector<Seconds> times = drawn(normal_law(), 20);
  EXPECT_TRUE(fit_laws(times));
  times.back() = Seconds(0);
  EXPECT_EQ(fit_laws(times).error().text(),
            "a time that is not above 0: 0 s (leave out steps that were not measured)");
}

// By the definition, with every mean and sum of squares from the beginning.
TEST(WarmUp, LeavesOutWhatItsRuleSays) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(10, 1);
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + round % 60;
    const int slow = round % 9;
    std::vector<Seconds> times;
    for (int i = 0; i < n; ++i) times.emplace_back(noise(random) + (i < slow ? 20 : 0));
    std::size_t best = 0;
    double least = 1e300;
    for (std::size_t d = 0; d <= times.size() / 2; ++d) {
      double mean = 0;
      for (std::size_t i = d; i < times.size(); ++i) mean += times[i].value();
      const auto left = static_cast<double>(times.size() - d);
      mean /= left;
      double sum = 0;
      for (std::size_t i = d; i < times.size(); ++i) {
        sum += (times[i].value() - mean) * (times[i].value() - mean);
      }
      if (sum / left / left < least * (1 - 1e-9)) {
        least = sum / left / left;
        best = d;
      }
    }
    EXPECT_EQ(warm_up(times), best) << "round " << round;
    if (n > 4 * slow) {
      EXPECT_GE(warm_up(times), static_cast<std::size_t>(slow));
    }
  }
  EXPECT_EQ(warm_up({}), 0U);
}

}  // namespace
}  // namespace orrery
