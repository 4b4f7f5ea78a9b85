#include "forecast/time_law.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

const std::vector<TimeLaw>& laws() {
  static const std::vector<TimeLaw> kLaws = {
      {.mean = Seconds(60)},
      {.law = TimeForm::uniform, .least = Seconds(10), .most = Seconds(30)},
      {.law = TimeForm::exponential, .mean = Seconds(100)},
      {.law = TimeForm::weibull, .mean = Seconds(100), .shape = 0.6},
      {.law = TimeForm::log_normal, .median = Seconds(50), .spread = 0.8},
      {.law = TimeForm::sampled, .samples = {Seconds(1), Seconds(5), Seconds(9)}},
  };
  return kLaws;
}

TEST(TimeLaw, HasItsMean) {
  for (const TimeLaw& law : laws()) {
    Seconds sum;
    constexpr int kPoints = 200'000;
    for (int i = 0; i < kPoints; ++i) sum += time_at(law, (i + 0.5) / kPoints);
    EXPECT_NEAR(sum / kPoints / mean_of(law), 1, 2e-3) << in_words(law);
  }
}

TEST(TimeLaw, GrowsWithItsQuantileAndItsScale) {
  for (const TimeLaw& law : laws()) {
    for (double u = 0.01; u < 0.98; u += 0.01) {
      EXPECT_LE(time_at(law, u), time_at(law, u + 0.01)) << in_words(law);
      EXPECT_NEAR(time_at(scaled(law, 3), u).value(), 3 * time_at(law, u).value(), 1e-9);
    }
  }
}

TEST(NormalQuantile, IsThatOfTheTables) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-13);
  EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798408, 1e-12);
}

TEST(TimeLaw, ThatIsImpossibleIsRefused) {
  const auto refusal = [](const TimeLaw& law) { return check(law).error().text(); };
  EXPECT_EQ(refusal({.law = TimeForm::log_normal, .median = Seconds(1), .spread = -0.5}),
            "spread: a negative spread, -0.5 (write the standard deviation of the logarithm: 0 or "
            "more)");
  EXPECT_EQ(refusal({.law = TimeForm::sampled}),
            "samples: a distribution of the law sampled needs it");
  EXPECT_EQ(refusal({.mean = Seconds(-1)}), "mean: a negative mean (write a time of 0 or more)");
  EXPECT_EQ(refusal({.law = TimeForm::uniform, .least = Seconds(2), .most = Seconds(1)}),
            "most: the most is below the least");
  EXPECT_EQ(refusal({.law = TimeForm::weibull, .mean = Seconds(1), .shape = 0}),
            "shape: a shape of 0 (write 0.1 to 10000; 1 is exponential)");
}

TEST(TimeLaw, HasTheFieldsOfItsFormAndNoOthers) {
  const auto refusal = [](const TimeLaw& law) { return check(law).error().text(); };
  EXPECT_EQ(refusal({}), "mean: a distribution of the law exactly needs it");
  EXPECT_EQ(refusal({.law = TimeForm::log_normal, .mean = Seconds(9), .spread = 1}),
            "mean: a distribution of the law log_normal does not have it (leave it out, or state "
            "another law)");
  EXPECT_EQ(refusal({.law = TimeForm::log_normal, .spread = 1}),
            "median: a distribution of the law log_normal needs it");
  EXPECT_EQ(refusal({.law = TimeForm::weibull, .mean = Seconds(9)}),
            "shape: a distribution of the law weibull needs it");
  EXPECT_EQ(refusal({.mean = Seconds(9), .shape = 0.7}),
            "shape: a distribution of the law exactly does not have it (leave it out, or state "
            "another law)");
  EXPECT_EQ(refusal({.law = TimeForm::uniform, .most = Seconds(9)}),
            "least: a distribution of the law uniform needs it");
}

TEST(TimeLaw, MayLeaveOutItsMeanWhereTheFormCounts) {
  const TimeLaw gaps{.law = TimeForm::weibull, .shape = 0.7};
  EXPECT_FALSE(check(gaps));
  EXPECT_TRUE(check_form(gaps));
  EXPECT_FALSE(check_form({.law = TimeForm::weibull}));
  EXPECT_FALSE(check_form({.law = TimeForm::sampled, .samples = {Seconds(0)}}));
  for (const TimeLaw& law : laws()) {
    EXPECT_NEAR(mean_of(with_mean(law, Seconds(7))).value(), 7, 1e-12) << in_words(law);
  }
}

}  // namespace
}  // namespace orrery
