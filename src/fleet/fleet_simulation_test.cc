#include "fleet/fleet_simulation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fleet/fleet_forecast.h"
#include "forecast/ettr.h"

namespace orrery {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

FleetModel small_cluster(std::int64_t nodes, double failures_a_day_of_node) {
  return {.nodes = nodes,
          .failure_rate = Hertz(failures_a_day_of_node / 86400),
          .repair = {.law = TimeForm::exponential, .mean = Seconds(7200)},
          .restart = *load_restart_times(Catalog::built_in(), "meta-rsc"),
          .checkpoint = Seconds(3600),
          .preempt_after = Seconds(7200)};
}

FleetJob job(std::int64_t submit_ms, std::int64_t gpus, double hours, std::int64_t priority = 0) {
  const auto ms = static_cast<std::int64_t>(hours * static_cast<double>(kHourMs));
  return {.submit_ms = submit_ms,
          .gpus = gpus,
          .mean_ms = static_cast<double>(ms),
          .priority = priority,
          .work_ms = ms};
}

std::int64_t total_of(const FleetOutcome& o) {
  std::int64_t sum = o.idle + o.down;
  for (const SizeOutcome& s : o.sizes) sum += s.productive + s.rework + s.restart;
  return sum;
}

TEST(Fleet, AccountsForEveryGpuMillisecondWithEveryScheduler) {
  JobMix mix = *load_job_mix(Catalog::built_in(), "meta-rsc-1");
  mix.uncertainty = {0, 1};
  const RandomDraws draws(3, 0);
  const auto jobs = jobs_of(mix, 256, 4, draws);
  FleetModel model = small_cluster(256, 0.2);
  model.days = 4;
  for (const auto& scheduler : names_of(Scheduler{})) {
    model.scheduler = scheduler.value;
    const FleetOutcome o = *simulate_fleet(model, jobs, draws);
    EXPECT_EQ(total_of(o), std::int64_t{256} * 8 * 4 * 24 * kHourMs) << scheduler.name;
    std::int64_t running = 0;
    std::int64_t ends = 0;
    for (const SizeOutcome& s : o.sizes) {
      EXPECT_LE(s.ended, s.started);
      EXPECT_LE(s.started, s.submitted);
      running += s.submitted - s.ended;
      ends += s.ended + s.failures + s.preempted;
    }
    EXPECT_GE(running, o.waiting);
    std::int64_t counted = 0;
    for (const std::int64_t n : o.ends) counted += n;
    EXPECT_EQ(counted, ends);
    EXPECT_GT(o.down, 0);
  }
}

TEST(Fleet, LosesNothingWithoutFailuresAndPreemption) {
  const auto o =
      *simulate_fleet(small_cluster(4, 0), std::vector{job(0, 8, 3), job(0, 32, 5), job(10, 4, 1)},
                      RandomDraws(1, 0));
  std::int64_t rework = 0;
  std::int64_t productive = 0;
  for (const SizeOutcome& s : o.sizes) {
    rework += s.rework;
    productive += s.productive;
    EXPECT_EQ(s.rule_first + s.lost_first + s.rule_second + s.lost_second, 0);
  }
  EXPECT_EQ(rework, 0);
  EXPECT_EQ(productive, (8 * 3 + 32 * 5 + 4 * 1) * kHourMs);
}

TEST(Fleet, AJobAloneHasTheClosedFormOfItsEttr) {
  constexpr std::int64_t kNodes = 64;
  constexpr double kRate = 0.06;  // of a node and day: a failure of the job every 6.25 h
  const FleetModel model = small_cluster(kNodes + 40, kRate);
  double sum = 0;
  constexpr int kSeedsHere = 40;
  for (int seed = 0; seed < kSeedsHere; ++seed) {
    const auto o = *simulate_fleet(model, std::vector{job(0, kNodes * 8, 1000)},
                                   RandomDraws(1, static_cast<std::uint64_t>(seed)));
    const SizeOutcome& s = o.sizes[size_of(kNodes * 8)];
    sum += s.ended_work / s.ended_wall;
  }
  const double exact = exact_ettr({.failures = Hertz(kNodes * kRate / 86400),
                                   .restart = Seconds(300),
                                   .interval = Seconds(3600),
                                   .save = {}});
  EXPECT_NEAR(sum / kSeedsHere, exact, 0.002);
}

TEST(Fleet, LossGrowsWithTheSquareOfTheSize) {
  const auto lost = [](std::int64_t nodes) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto o = *simulate_fleet(small_cluster(600, 0.02), std::vector{job(0, nodes * 8, 300)},
                                     RandomDraws(2, seed));
      const SizeOutcome& s = o.sizes[size_of(nodes * 8)];
      sum += static_cast<double>(s.rule_first * nodes) / s.ended_wall;
    }
    return sum;
  };
  EXPECT_NEAR(std::log2(lost(512) / lost(128)) / 2, 2, 0.25);
}

TEST(Fleet, BackfillsWithoutDelayingTheFirstInTheQueue) {
  // 4 nodes: 3 are busy for 10 h; a job of 4 waits; one of 5 h fits before it, one of 20 h does
  // not.
  const auto o = *simulate_fleet(
      [] {
        FleetModel m = small_cluster(4, 0);
        m.scheduler = Scheduler::fifo;
        return m;
      }(),
      std::vector{job(0, 24, 10), job(1000, 32, 1), job(2000, 8, 20), job(3000, 8, 5)},
      RandomDraws(1, 0));
  const auto& whole = o.sizes[size_of(32)].queue_s;  // 24 and 32 GPUs
  ASSERT_EQ(whole.size(), 2U);
  EXPECT_FLOAT_EQ(whole[1], 36300 - 1);  // its start, and the restart of the one before
  EXPECT_FLOAT_EQ(o.sizes[size_of(8)].queue_s[0], 0);
}

TEST(Fleet, PreemptsAfterTwoHoursAndCountsTheSecondOrder) {
  FleetModel m = small_cluster(4, 0);
  m.scheduler = Scheduler::priority;
  const auto jobs = std::vector{job(0, 32, 10), job(kHourMs, 8, 1, 1)};
  const auto o = *simulate_fleet(m, jobs, RandomDraws(1, 0));
  EXPECT_FLOAT_EQ(o.sizes[size_of(8)].queue_s[0], 3600);  // until the other is two hours old
  EXPECT_EQ(o.sizes[size_of(32)].preempted, 1);
  // A failed job without a node for itself takes that of another.
  FleetModel failing = small_cluster(8, 1);
  failing.days = 100;
  std::vector<FleetJob> busy{job(0, 56, 1e4, 1), job(0, 8, 1e4)};
  const auto f = *simulate_fleet(failing, busy, RandomDraws(1, 0));
  const SizeOutcome& large = f.sizes[size_of(56)];
  EXPECT_GT(large.second_order, 0);
  EXPECT_GT(large.rule_second, 0);
  EXPECT_LE(large.rule_second, large.second_order * 8 * kHourMs / 2);
  EXPECT_EQ(large.second_order, f.sizes[size_of(8)].preempted);
}

TEST(Fleet, MixesHaveThePublishedShares) {
  struct Published {
    const char* name;
    double single, large;
    std::int64_t largest;
  };
  for (const Published& p :
       {Published{"meta-rsc-1", 0.4, 0.66, 4096}, {"meta-rsc-2", 0.4, 0.52, 0}}) {
    const JobMix mix = *load_job_mix(Catalog::built_in(), p.name);
    double all = 0, server = 0, large = 0, largest = 0;
    double jobs_single = 0, jobs_server = 0, jobs_largest = 0;
    const auto jobs = jobs_of(mix, mix.nodes, 200, RandomDraws(1, 0));
    for (const FleetJob& j : jobs) {
      const double gpu_ms = static_cast<double>(j.gpus) * static_cast<double>(j.work_ms);
      all += gpu_ms;
      if (j.gpus <= 8) server += gpu_ms;
      if (j.gpus >= 256) large += gpu_ms;
      if (j.gpus == p.largest) largest += gpu_ms;
      jobs_single += j.gpus == 1;
      jobs_server += j.gpus <= 8;
      jobs_largest += j.gpus == p.largest;
    }
    const auto n = static_cast<double>(jobs.size());
    EXPECT_NEAR(n / 200, mix.jobs_a_day, 0.01 * mix.jobs_a_day);
    EXPECT_GT(jobs_single / n, p.single);
    EXPECT_GT(jobs_server / n, 0.9);
    EXPECT_LT(server / all, 0.1);
    EXPECT_NEAR(large / all, p.large, 0.03);
    EXPECT_NEAR(largest / all, p.largest > 0 ? 0.12 : 0, 0.03);
    EXPECT_LT(jobs_largest / n, 0.01);
    // Starts and lost work come on top.
    const double load = all / (200 * 24.0 * kHourMs * 8 * static_cast<double>(mix.nodes));
    EXPECT_GT(load, *mix.utilisation - 0.1);
    EXPECT_LT(load, *mix.utilisation);
  }
}

TEST(Fleet, GivesTheSameForAnyNumberOfThreadsAndMoreLossWithMoreFailures) {
  const auto ask = [](int threads, const char* failures) {
    return *forecast_fleet({.nodes = 256, .days = 3, .failures = failures, .seeds = 3},
                           Catalog::built_in(), {.compare = true, .threads = threads});
  };
  const FleetForecast one = ask(1, "meta-rsc-1");
  const FleetForecast two = ask(2, "meta-rsc-1");
  EXPECT_EQ(one.completion_s.mean, two.completion_s.mean);
  EXPECT_EQ(one.productive, two.productive);
  EXPECT_EQ(one.comparison.size(), 2 * kSchedulers);
  EXPECT_NEAR(one.productive + one.rework + one.restarting + one.idle + one.down, 1, 1e-12);
  EXPECT_EQ(ask(1, "none").lost.mean, 0);
  EXPECT_GT(one.lost.mean, 0);
}

TEST(JobList, ReadsRowsAndRefusesImpossibleOnes) {
  const auto list =
      parse_job_list("submit,gpus,duration,priority,p95\n60,8,3600,2,7200\n0,1,10,,\n", "jobs.csv");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->jobs[0].gpus, 1);
  EXPECT_EQ(list->jobs[0].spread, 0);
  EXPECT_NEAR(p95_ms(list->jobs[1]), 7'200'000, 1e-3);
  const auto why = [](const char* text) { return parse_job_list(text, "jobs.csv").error().text(); };
  EXPECT_EQ(why("submit,gpus\n1,2\n"),
            "jobs.csv: a list of jobs needs the columns submit, gpus and duration (write "
            "submit,gpus,duration,priority,p95 with times in seconds)");
  EXPECT_EQ(why("submit,gpus,duration\n1,2.5,3\n"),
            "jobs.csv: line 2: gpus '2.5' is not a whole number above 0");
  EXPECT_EQ(why("submit,gpus,duration,p95\n1,2,30,20\n"),
            "jobs.csv: line 2: p95 '20' is not a time of 1 to 3.83 times the duration, which is "
            "the mean");
  EXPECT_EQ(why("submit,gpus,duration\n"), "jobs.csv: a list without jobs");
}

}  // namespace
}  // namespace orrery
