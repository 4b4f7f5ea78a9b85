#include "forecast/ettr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "forecast/linear_ettr.h"

namespace orrery {
namespace {

constexpr Seconds kMinute{60};
constexpr Seconds kHour{3600};
constexpr Seconds kDay{86400};
constexpr Hertz kRsc1 = 6.50 / 1000 / kDay;
constexpr Hertz kRsc2 = 2.34 / 1000 / kDay;

CheckpointedJob job(std::int64_t gpus, Hertz rate, double interval_minutes, double restart_minutes,
                    Seconds save = Seconds(0)) {
  return {static_cast<double>(gpus) / 8 * rate, kMinute * restart_minutes,
          kMinute * interval_minutes, save};
}

// With time in a queue before every start, from the definitions of the same paper.
double queued_ettr(const CheckpointedJob& of, Seconds queue, Seconds productive) {
  const Seconds lost = of.restart + of.interval / 2;
  return (1 - of.failures.value() * lost.value()) /
         (1 + (of.restart + queue) / productive + of.failures.value() * queue.value());
}

TEST(MeanTimeToFailure, IsThatOfThePaper) {
  EXPECT_NEAR(mean_time_to_failure(16384 / 8, kRsc1) / kHour, 1.8, 0.005);
  EXPECT_NEAR(mean_time_to_failure(131072 / 8, kRsc1) / kHour, 0.23, 0.006);
}

// The rows of the published table that the formula reproduces (arXiv 2410.21680), in which 16 k
// accelerators are 16,000.
TEST(LinearEttr, IsThatOfThePaper) {
  EXPECT_NEAR(linear_ettr(job(16000, kRsc1, 60, 5)), 0.684, 0.0005);
  EXPECT_NEAR(exact_ettr(job(16000, kRsc1, 60, 5)), 0.720, 0.0005);
  EXPECT_NEAR(linear_ettr(job(16000, kRsc1, 5, 5)), 0.932, 0.0005);
  EXPECT_NEAR(linear_ettr(job(100000, kRsc1, 7, 5)), 0.520, 0.0005);
  EXPECT_NEAR(exact_ettr(job(100000, kRsc1, 7, 5)), 0.615, 0.0005);
  EXPECT_NEAR(linear_ettr(job(100000, kRsc2, 2, 2)), 0.939, 0.0005);
  EXPECT_NEAR(queued_ettr(job(8000, kRsc1, 30, 5), kMinute, 7 * kDay), 0.906, 0.002);
}

TEST(LinearEttr, WithTheBestIntervalIsThatOfThePaper) {
  const auto at_best = [](Hertz rate, Seconds save) {
    CheckpointedJob j = job(12000, rate, 1, 5, save);
    j.interval = young_interval(j.failures, save);
    return j;
  };
  const CheckpointedJob quick = at_best(kRsc1, Seconds(10));
  EXPECT_NEAR(quick.interval / kMinute, 7.0, 0.05);
  EXPECT_NEAR(linear_ettr(quick), 0.921, 0.0005);
  const CheckpointedJob reliable = at_best(1.0 / 1000 / kDay, 5 * kMinute);
  EXPECT_NEAR(reliable.interval / kMinute, 98, 0.05);
  EXPECT_NEAR(linear_ettr(reliable), 0.898, 0.0005);
  const CheckpointedJob neither = at_best(kRsc1, 5 * kMinute);
  EXPECT_NEAR(neither.interval / kMinute, 38, 0.5);
  EXPECT_NEAR(linear_ettr(neither), 0.740, 0.0005);
}

TEST(LinearEttr, MeetsTheExactFormWhereFailuresAreRare) {
  for (const std::int64_t gpus : {8, 64, 512, 1024}) {
    const CheckpointedJob j = job(gpus, kRsc1, 30, 5, Seconds(20));
    EXPECT_NEAR(exact_ettr(j), linear_ettr(j), 0.001) << gpus;
  }
}

// Two figures of the paper that its own formulas do not give: kept apart, so that nobody fits
// anything to them.
TEST(PublishedFiguresThatDoNotMatch, StayApart) {
  // "0.5 at an interval of 21 minutes on 100,000 GPUs at the rate of RSC-2"; restart unknown.
  EXPECT_NEAR(linear_ettr(job(100000, kRsc2, 21, 5)), 0.685, 0.0005);
  // The observed 7.9 h of jobs of 1,024 GPUs are 3.6 times worse than the rate implies.
  EXPECT_NEAR(mean_time_to_failure(1024 / 8, kRsc1) / kHour, 28.8, 0.05);
}

TEST(ExactEttr, IsOneWithoutFailuresAndSaves) {
  EXPECT_EQ(exact_ettr({Hertz(0), kMinute, kHour, Seconds(0)}), 1);
}

TEST(BestInterval, IsTheMaximumOfTheExactForm) {
  for (const double mttf_hours : {0.05, 0.5, 3.0, 100.0}) {
    for (const double save : {0.01, 1.0, 60.0, 600.0}) {
      CheckpointedJob j{1 / (kHour * mttf_hours), 5 * kMinute, Seconds(0), Seconds(save)};
      j.interval = best_interval(j.failures, j.save);
      const double best = exact_ettr(j);
      EXPECT_LT(j.interval, young_interval(j.failures, j.save));
      for (const double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) {
        CheckpointedJob other = j;
        other.interval *= factor;
        EXPECT_LE(exact_ettr(other), best * (1 + 1e-12)) << mttf_hours << " h, " << save << " s";
      }
    }
  }
}

TEST(BestInterval, IsNearYoungsWhereSavesAreShort) {
  const Hertz failures = 1 / (3 * kHour);
  const Seconds save(10);
  EXPECT_NEAR(exact_ettr({failures, 5 * kMinute, young_interval(failures, save), save}),
              exact_ettr({failures, 5 * kMinute, best_interval(failures, save), save}), 1e-4);
}

// sqrt(2 a) - 2 a / 3 + ... with a = failures x save.
TEST(BestInterval, IsExactWhereSavesAreVeryShort) {
  for (const double a : {1e-6, 1e-9, 1e-11, 1e-13, 1e-15}) {
    EXPECT_NEAR(best_interval(Hertz(1), Seconds(a)).value() / (std::sqrt(2 * a) - 2 * a / 3), 1,
                1e-6)
        << a;
  }
}

// Saves of 60 s, a failure every 3.09 h, restarts of 600 s.
TEST(Intervals, OfYoungAreWorkedOutByHand) {
  const Hertz failures = 1 / (3.09 * kHour);
  const Seconds save(60);
  EXPECT_NEAR(young_interval(failures, save).value(), 1155.4, 0.05);
  EXPECT_NEAR(exact_ettr({failures, 10 * kMinute, young_interval(failures, save), save}), 0.8524,
              1e-4);
  EXPECT_NEAR(mean_time_to_failure(2048, kRsc2) / kHour, 5.008, 5e-4);
}

TEST(LargestInterval, ReachesTheRatioAndNotMore) {
  const CheckpointedJob j{1 / kHour, 5 * kMinute, Seconds(0), Seconds(30)};
  const auto largest = largest_interval(j, 0.5);
  ASSERT_TRUE(largest);
  EXPECT_NEAR(exact_ettr({j.failures, j.restart, *largest, j.save}), 0.5, 1e-9);
  EXPECT_FALSE(largest_interval({1 / kMinute, kHour, Seconds(0), Seconds(30)}, 0.01));
}

TEST(Ettr, IsReachedAtTheLargestFailureRate) {
  const CheckpointedJob hourly{Hertz(0), Seconds(600), Seconds(3600), Seconds(30)};
  for (const double ettr : {0.5, 0.8, 0.95}) {
    const auto largest = largest_failure_rate(hourly, ettr);
    ASSERT_TRUE(largest);
    CheckpointedJob at = hourly;
    at.failures = *largest;
    EXPECT_NEAR(exact_ettr(at), ettr, 1e-9);
    // The other way round: that interval is the largest one of that rate.
    EXPECT_NEAR(*largest_interval(at, ettr) / hourly.interval, 1, 1e-6);
  }
  EXPECT_FALSE(largest_failure_rate(hourly, 0.995)) << "saves take more";
}

}  // namespace
}  // namespace orrery
