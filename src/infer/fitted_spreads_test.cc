#include "infer/fitted_spreads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "forecast/time_law.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

constexpr double kSpatial = 0.05, kTemporal = 0.02, kWithin = 0.03;

double normal_of(std::uint64_t purpose, std::uint64_t which) {
  return normal_quantile(RandomDraws(7, which).uniform(purpose, 0));
}

// Ranks, steps and calls that vary as stated, about 10 ms.
DurationSamples known_samples(SampledWork work, std::int32_t ranks, std::int32_t steps) {
  DurationSamples out;
  out.signatures.push_back({work, "gemm", "[[64, 64]]", true});
  out.ranks = ranks;
  out.steps = steps;
  for (std::int32_t r = 0; r < ranks; ++r) {
    for (std::int32_t s = 0; s < steps; ++s) {
      for (std::int32_t c = 0; c < 8; ++c) {
        const auto cell = static_cast<std::uint64_t>(r) * 1000 + static_cast<std::uint64_t>(s);
        const double varies = 1 + kSpatial * normal_of(1, static_cast<std::uint64_t>(r)) +
                              kTemporal * normal_of(2, cell) +
                              kWithin * normal_of(3, cell * 8 + static_cast<std::uint64_t>(c));
        out.samples.push_back({0, r, s, 0.01 * varies, false});
      }
    }
  }
  return out;
}

TEST(FittedSpreads, RecoverHowSamplesWereMade) {
  const SpreadParts parts = spread_parts(known_samples(SampledWork::products, 200, 20).samples);
  EXPECT_NEAR(parts.spatial.value_or(0), kSpatial, 0.006);
  EXPECT_NEAR(parts.temporal.value_or(0), kTemporal, 0.001);
  EXPECT_NEAR(parts.within.value_or(0), kWithin, 0.0005);
}

TEST(FittedSpreads, SayNothingOfWhatWasNotRepeated) {
  const SpreadParts one_rank = spread_parts(known_samples(SampledWork::products, 1, 20).samples);
  EXPECT_FALSE(one_rank.spatial);
  EXPECT_TRUE(one_rank.temporal);
  const SpreadParts one_step = spread_parts(known_samples(SampledWork::products, 30, 1).samples);
  EXPECT_TRUE(one_step.spatial);
  EXPECT_FALSE(one_step.temporal);
}

TEST(FittedSpreads, KernelsEvenOutOverAStepAndPassesDoNot) {
  for (const SampledWork work : {SampledWork::products, SampledWork::pass}) {
    const auto fitted =
        fitted_spreads(known_samples(work, 50, 20), Variability(), "recorded", "file");
    ASSERT_TRUE(fitted);
    const double calls = work == SampledWork::pass ? 1 : 8;
    EXPECT_NEAR(fitted->variability.products.temporal,
                std::sqrt(kTemporal * kTemporal + kWithin * kWithin / calls), 0.001);
    EXPECT_EQ(fitted->rows[0].nearest->law.law == TimeForm::sampled, false);
  }
}

TEST(FittedSpreads, KeepWhatHasFewerThanTwentySamples) {
  Variability kept;
  kept.name = "kept";
  kept.products.spatial = 0.123;
  const auto fitted = fitted_spreads(known_samples(SampledWork::products, 2, 1), kept, "r", "file");
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->variability.products.spatial, 0.123);
  EXPECT_EQ(fitted->kinds[0].kept_because, "fewer than 20 samples of any signature");
}

TEST(FittedSpreads, FindTheCommunicationOfAStepAlike) {
  constexpr double kShare = 0.6;
  DurationSamples samples;
  samples.signatures.push_back({SampledWork::between_nodes, "all-reduce", "8 ranks, 1 MiB", true});
  samples.steps = 400;
  for (std::int32_t s = 0; s < 400; ++s) {
    const double network = normal_of(4, static_cast<std::uint64_t>(s));
    for (std::int32_t c = 0; c < 10; ++c) {
      const double own =
          normal_of(5, static_cast<std::uint64_t>(s) * 10 + static_cast<std::uint64_t>(c));
      const double z = std::sqrt(kShare) * network + std::sqrt(1 - kShare) * own;
      samples.samples.push_back({0, 0, s, 1e-3 * std::exp(0.3 * z), false});
    }
  }
  const auto fitted = fitted_spreads(samples, Variability(), "recorded", "file");
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->variability.communication.correlation, kShare, 0.05);
  EXPECT_NEAR(fitted->variability.communication.between_nodes, std::sqrt(std::expm1(0.09)), 0.02);
  EXPECT_EQ(fitted->rows[0].nearest->law.law, TimeForm::log_normal);
  EXPECT_FALSE(fitted->rows[0].empirical());
}

// Two signatures of one law and different means: the kind has their law.
TEST(FittedSpreads, GiveAKindTheLawOfItsFactors) {
  for (const TimeForm form : {TimeForm::gamma, TimeForm::sampled}) {
    DurationSamples samples;
    for (std::uint32_t signature = 0; signature < 2; ++signature) {
      samples.signatures.push_back({SampledWork::pass, "forward", std::to_string(signature), true});
      for (std::int32_t s = 0; s < 2000; ++s) {
        const double u = RandomDraws(9, static_cast<std::uint64_t>(s)).uniform(signature, 0);
        const double z = form == TimeForm::gamma
                             ? time_at({.law = form, .mean = Seconds(1), .shape = 4}, u).value() - 1
                             : (u < 0.9 ? -0.02 : 0.18) + 0.01 * (u - 0.5);
        samples.samples.push_back({signature, 0, s, (1 + signature) * (1 + z), false});
      }
    }
    samples.steps = 2000;
    const auto fitted = fitted_spreads(samples, Variability(), "recorded", "file");
    ASSERT_TRUE(fitted);
    const auto& law = fitted->variability.products.temporal_law;
    ASSERT_TRUE(law);
    EXPECT_EQ(law->law, form);
    EXPECT_NEAR(mean_of(*law).value(), 1, 1e-3);
    EXPECT_FALSE(fitted->variability.products.spatial_law);  // of one place
    // Nine of ten times are short and one is long, as they were.
    if (form == TimeForm::sampled) {
      EXPECT_EQ(law->samples.size(), kQuantiles);
      EXPECT_LT(time_at(*law, 0.88), Seconds(1));
      EXPECT_GT(time_at(*law, 0.95), Seconds(1.1));
    }
  }
}

// What is kept keeps its law, and times that all but a few share have none.
TEST(FittedSpreads, WriteWhatAForecastCanDraw) {
  Variability kept;
  kept.name = "kept";
  kept.products.spatial = 0.1;
  kept.products.spatial_law = TimeLaw{.law = TimeForm::gamma, .mean = Seconds(1), .shape = 9};
  DurationSamples samples;
  samples.signatures.push_back({SampledWork::pass, "forward", "stage 0", true});
  for (std::int32_t s = 0; s < 1000; ++s) {
    samples.samples.push_back({0, 0, s, s % 500 == 7 ? 2e-5 : 5e-6, false});
  }
  samples.steps = 1000;
  const auto fitted = fitted_spreads(samples, kept, "recorded", "file");
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->variability.products.spatial_law, kept.products.spatial_law);
  EXPECT_GT(fitted->variability.products.temporal, 0);
  EXPECT_FALSE(fitted->variability.products.temporal_law);
  EXPECT_TRUE(check(fitted->variability));
}

TEST(OtsuThreshold, PartsWaitingFromTransfersAndLeavesOneRegimeWhole) {
  std::vector<double> one;
  std::vector<double> two;
  for (std::uint64_t i = 0; i < 200; ++i) {
    one.push_back(1e-3 * std::exp(0.2 * normal_of(6, i)));
    two.push_back(i % 4 == 0 ? 0.1 + 1e-3 * static_cast<double>(i) : one.back());
  }
  EXPECT_FALSE(otsu_threshold(one));
  const auto threshold = otsu_threshold(two);
  ASSERT_TRUE(threshold);
  EXPECT_GT(*threshold, *std::ranges::max_element(one));
  EXPECT_LT(*threshold, 0.1);
}

TEST(OtsuThreshold, IsAppliedWhereNotAllRanksAreRecorded) {
  DurationSamples samples;
  samples.signatures.push_back({SampledWork::within_node, "all-reduce", "8 ranks, 1 MiB", true});
  for (std::int32_t i = 0; i < 100; ++i) {
    const double transfer = 1e-3 * (1 + 0.05 * normal_of(8, static_cast<std::uint64_t>(i)));
    samples.samples.push_back({0, 0, i, i % 4 == 0 ? 0.2 : transfer, true});
  }
  const auto fitted = fitted_spreads(samples, Variability(), "recorded", "file");
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->rows[0].waited, 25);
  EXPECT_NEAR(fitted->variability.communication.within_node, 0.05, 0.01);
}

}  // namespace
}  // namespace orrery
