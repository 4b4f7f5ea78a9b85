#include "forecast/run_simulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "forecast/ettr.h"
#include "forecast/linear_ettr.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr Seconds kOneMinute{60};
constexpr Seconds kOneHour{3600};
constexpr std::uint64_t kSeed = 7;

// A run of `periods` intervals of 60 steps of 10 s, each followed by a blocking save.
RunModel plain(Hertz failures, Seconds restart, Seconds save, std::int64_t periods = 1000) {
  RunModel m;
  m.steps = periods * 60;
  m.step = Seconds(10);
  m.failure_rate = failures;
  m.checkpoints = {{.every = 60, .blocked = save, .durable = save}};
  m.restart = {{.name = "restart", .time = {.mean = restart}}};
  return m;
}

// A run with everything that a run can have.
RunModel rich() {
  RunModel m = plain(1 / (3 * kOneHour), 2 * kOneMinute, Seconds(3));
  m.nodes = 256;
  m.failure_rate = m.failure_rate / 256;
  m.evaluate_every = 130;
  m.evaluation = 5 * kOneMinute;
  m.checkpoints = {
      {.every = 15,
       .blocked = Seconds(0.5),
       .durable = Seconds(4),
       .restore = Seconds(9),
       .survives = 0.8},
      {.every = 60, .blocked = Seconds(3), .durable = Seconds(200), .restore = Seconds(90)}};
  m.gaps = {.law = TimeForm::weibull, .mean = Seconds(1), .shape = 0.6};
  m.lemons = {.share = 0.02, .factor = 30};
  m.node_share = 0.7;
  m.spares = 2;
  m.repair = {.law = TimeForm::log_normal, .median = 3 * kOneHour, .spread = 1.2};
  m.restart.push_back(
      {.name = "initialization",
       .badput = Badput::tpu_initialization,
       .time = {.law = TimeForm::uniform, .least = kOneMinute, .most = 3 * kOneMinute},
       .share = 0.5,
       .first_start = true});
  return m;
}

std::vector<RunOutcome> simulated(const RunModel& m, std::int64_t runs = 400, int threads = 2) {
  auto out = simulate_runs(m, runs, kSeed, threads);
  EXPECT_TRUE(out) << out.error().text();
  return out ? *out : std::vector<RunOutcome>();
}

// Of the total productive over the total wall-clock time, and its standard error.
struct Ratio {
  double value, error;
};
Ratio ettr(const std::vector<RunOutcome>& runs) {
  double wall = 0;
  double square = 0;
  for (const RunOutcome& run : runs) {
    const double w = static_cast<double>(run.wall_ns);
    wall += w;
    square += w * w;
  }
  const auto n = static_cast<double>(runs.size());
  const double mean = wall / n;
  const double value = static_cast<double>(runs.front().productive_ns) / mean;
  const double deviation = std::sqrt(std::max(square / n - mean * mean, 0.0));
  return {value, value * deviation / mean / std::sqrt(n)};
}

TEST(SimulatedRun, WithoutFailuresAndWithFreeSavesTakesItsSteps) {
  const auto runs = simulated(plain(Hertz(0), kOneHour, Seconds(0)), 3);
  for (const RunOutcome& run : runs) {
    EXPECT_EQ(run.wall_ns, 60'000ll * 10'000'000'000);
    EXPECT_EQ(run.interruptions, 0);
  }
}

// A failure every 100 s. At the first, nine steps and 4 s are done, and the save after the ninth,
// begun at 94 s, is of use only at 109 s: the run goes on from the sixth. At the second, at 200 s,
// the fifteenth step has just ended; the save after the twelfth was of use at 183 s.
TEST(SimulatedRun, OfTwoFailuresIsWorkedOutByHand) {
  RunModel m;
  m.steps = 20;
  m.step = Seconds(10);
  m.failure_rate = 1 / Seconds(100);
  m.gaps = {.mean = Seconds(1)};
  m.checkpoints = {
      {.every = 3, .blocked = Seconds(2), .durable = Seconds(15), .restore = Seconds(1)}};
  m.restart = {{.name = "restart", .time = {.mean = Seconds(5)}}};
  const RunOutcome run = simulated(m, 1).front();
  const auto seconds = [&](Badput b) {
    return run.badput_ns[static_cast<std::size_t>(b)] / 1'000'000'000;
  };
  EXPECT_EQ(run.interruptions, 2);
  EXPECT_EQ(seconds(Badput::wasted_progress_from_disruption), 34 + 30);
  EXPECT_EQ(seconds(Badput::unproductive_checkpoint_save_time), 7 * 2);
  EXPECT_EQ(seconds(Badput::infrastructure_recovery_from_disruption), 2 * 5);
  EXPECT_EQ(seconds(Badput::unproductive_checkpoint_restore_time), 2);
  EXPECT_EQ(run.wall_ns, 290'000'000'000);
}

TEST(SimulatedRun, IsWithinSamplingErrorOfTheExactForm) {
  for (const double mttf_minutes : {20.0, 60.0, 180.0, 3000.0}) {
    for (const double restart : {0.0, 300.0, 1500.0}) {
      for (const double save : {0.0, 45.0}) {
        const RunModel m = plain(1 / (kOneMinute * mttf_minutes), Seconds(restart), Seconds(save));
        const Ratio simulation = ettr(simulated(m));
        const double exact =
            exact_ettr({m.failure_rate, Seconds(restart), Seconds(600), Seconds(save)});
        EXPECT_NEAR(simulation.value, exact, 4 * simulation.error + 1e-12)
            << mttf_minutes << " min, restart " << restart << ", save " << save;
      }
    }
  }
}

// The rows of the RSC paper where failures are rare: within 5 %.
TEST(SimulatedRun, IsWithinFivePercentOfTheLinearFormWhereItHolds) {
  for (const double mttf_hours : {3.0, 8.0, 24.0}) {
    const RunModel m = plain(1 / (kOneHour * mttf_hours), 5 * kOneMinute, Seconds(5));
    const double linear = linear_ettr({m.failure_rate, 5 * kOneMinute, Seconds(600), Seconds(5)});
    EXPECT_NEAR(ettr(simulated(m)).value / linear, 1, 0.05);
  }
}

TEST(SimulatedRun, IsBestAtTheClosedFormsInterval) {
  const Hertz failures = 1 / (2 * kOneHour);
  const Seconds save(30);
  const auto at = [&](std::int64_t every) {
    RunModel m = plain(failures, 5 * kOneMinute, save, 500);
    m.checkpoints = {{.every = every, .blocked = save, .durable = save}};
    return ettr(simulated(m, 1000)).value;
  };
  const auto best = static_cast<std::int64_t>(best_interval(failures, save) / Seconds(10));
  double maximum = 0;
  for (std::int64_t every = best / 2; every <= 2 * best; every += best / 10) {
    maximum = std::max(maximum, at(every));
  }
  EXPECT_NEAR(at(best), maximum, 0.001 * maximum);
}

TEST(SimulatedRun, SpendsEveryNanosecondOnce) {
  const auto runs = simulated(rich());
  std::array<std::int64_t, kBadputs> seen{};
  for (const RunOutcome& run : runs) {
    const auto& b = run.badput_ns;
    EXPECT_EQ(run.wall_ns,
              run.productive_ns + std::accumulate(b.begin(), b.end(), std::int64_t{0}));
    EXPECT_EQ(run.productive_ns, 60'000ll * 10'000'000'000);
    for (std::size_t i = 0; i < kBadputs; ++i) {
      EXPECT_GE(b[i], 0);
      seen[i] += b[i];
    }
  }
  for (std::size_t i = 0; i < kBadputs; ++i) {
    const auto badput = static_cast<Badput>(i);
    EXPECT_EQ(seen[i] > 0, badput != Badput::program_startup &&
                               badput != Badput::planned_interruptions &&
                               badput != Badput::fewer_replicas)
        << i;
  }
}

TEST(SimulatedRun, GivesTheSameBytesForAnyNumberOfThreads) {
  const auto one = simulated(rich(), 100, 1);
  EXPECT_EQ(one, simulated(rich(), 100, 2));
  EXPECT_EQ(one, simulated(rich(), 100, 4));
  const auto fewer = simulated(rich(), 40, 4);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), one.begin()));
}

TEST(SimulatedRun, IsNotHelpedByMoreFailuresOrLongerRestarts) {
  const auto mean = [](double failures, double restart, double save) {
    RunModel m = rich();
    m.failure_rate *= failures;
    for (RestartStage& stage : m.restart) stage.time = scaled(stage.time, restart);
    for (CheckpointLevel& l : m.checkpoints) l.blocked *= save;
    return ettr(simulated(m)).value;
  };
  const double base = mean(1, 1, 1);
  double last = base;
  for (const double more : {1.2, 1.5, 2.0, 3.0}) {
    const double now = mean(more, 1, 1);
    EXPECT_LT(now, last);
    last = now;
  }
  EXPECT_LT(mean(1, 2, 1), base);
  EXPECT_GT(mean(1, 0.5, 1), base);
  EXPECT_LT(mean(1, 1, 4), base);
}

TEST(SimulatedRun, GainsFromReplicasInMemoryAndFromSpares) {
  RunModel storage = rich();
  storage.checkpoints.erase(storage.checkpoints.begin());
  EXPECT_GT(ettr(simulated(rich())).value, ettr(simulated(storage)).value);
  RunModel lost = rich();
  lost.checkpoints.front().survives = 0;  // costs its saves and is of no use
  EXPECT_LT(ettr(simulated(lost)).value, ettr(simulated(storage)).value);
  RunModel more = rich();
  more.spares = 40;
  EXPECT_GT(ettr(simulated(more)).value, ettr(simulated(rich())).value);
}

// The mean of a renewal process over a long time is time / mean gap whatever its form.
TEST(SimulatedRun, HasTheInterruptionsOfItsRate) {
  RunModel m = plain(1 / (4 * kOneHour), Seconds(0), Seconds(0), 3000);
  for (const TimeLaw& gaps :
       {m.gaps, TimeLaw{.law = TimeForm::weibull, .mean = Seconds(5), .shape = 0.7},
        TimeLaw{.law = TimeForm::sampled, .samples = {Seconds(0), Seconds(1), Seconds(7)}}}) {
    m.gaps = gaps;
    double interruptions = 0;
    double hours = 0;
    for (const RunOutcome& run : simulated(m)) {
      interruptions += static_cast<double>(run.interruptions);
      hours += static_cast<double>(run.wall_ns) / 3.6e12;
    }
    EXPECT_NEAR(interruptions / hours, 0.25, 0.005) << in_words(gaps);
  }
}

TEST(SimulatedRun, VariesMoreWhereFailuresCluster) {
  const auto deviation = [](double shape) {
    RunModel m = plain(1 / (6 * kOneHour), 20 * kOneMinute, Seconds(5), 2000);
    m.gaps = {.law = TimeForm::weibull, .mean = Seconds(1), .shape = shape};
    return ettr(simulated(m, 1000)).error;
  };
  const double independent = deviation(1);
  EXPECT_GT(deviation(0.6), 1.3 * independent);
  EXPECT_LT(deviation(2), 0.7 * independent);
}

// Lemons leave with their failures, so that a run with them has fewer failures in all.
TEST(SimulatedRun, PurgesLemonsWhereFailuresTakeTheNode) {
  RunModel m = plain(1 / (2 * kOneHour), Seconds(0), Seconds(0));
  m.nodes = 1000;
  m.failure_rate = m.failure_rate / 1000;
  const auto interruptions = [&] {
    double sum = 0;
    for (const RunOutcome& run : simulated(m)) sum += static_cast<double>(run.interruptions);
    return sum;
  };
  const double equal = interruptions();
  m.lemons = {.share = 0.01, .factor = 50};
  EXPECT_LT(interruptions(), 0.95 * equal);
  m.node_share = 0;  // they stay
  EXPECT_NEAR(interruptions() / equal, 1, 0.02);
}

// What is suggested is accepted.
TEST(ImpossibleRun, IsPossibleWithTheIntervalThatIsNamed) {
  for (const double mttf : {60.0, 77.7, 1234.5, 98765.0}) {
    RunModel m = plain(Hertz(1 / mttf), Seconds(10), Seconds(1), 100'000);
    m.step = Seconds(0.37);
    m.checkpoints.front().every = m.steps;
    const auto refused = check(m);
    ASSERT_FALSE(refused);
    const std::string& hint = refused.error().hint;
    const auto named = parse_seconds(hint.substr(14, hint.find(" between") - 14));
    ASSERT_TRUE(named) << hint;
    m.checkpoints.front().every = std::llround(*named / m.step);
    EXPECT_TRUE(check(m)) << hint;
    m.checkpoints.front().every += m.checkpoints.front().every / 50 + 1;
    EXPECT_FALSE(check(m)) << hint;
  }
}

// A level is judged by its own interval and save, and by the failures that get to it.
TEST(ImpossibleRun, IsJudgedByTheCheckpointsThatItNeeds) {
  RunModel m = plain(1 / kOneMinute, Seconds(0), Seconds(0));
  m.checkpoints.insert(m.checkpoints.begin(), {.every = 1});
  EXPECT_TRUE(check(m));
  m.checkpoints.front().survives = 0;
  EXPECT_FALSE(check(m));
  m.checkpoints.front().survives = 0.99;
  EXPECT_TRUE(check(m));
  m.checkpoints = {{.every = m.steps, .survives = 0.5}, {.every = 1}};
  EXPECT_TRUE(check(m));  // copies in memory that are never the newest
  EXPECT_EQ(shares_of_failures({{.survives = 0.75}, {.survives = 1}}),
            (std::vector<double>{0.75, 0.25}));
}

// A single save has none after it that it could be late for.
TEST(SimulatedRun, MaySaveOnceHoweverLongThatTakes) {
  RunModel m = plain(Hertz(0), Seconds(0), Seconds(0), 10);
  m.checkpoints = {{.every = m.steps / 2 + 1, .blocked = Seconds(1), .durable = 100 * kOneHour}};
  EXPECT_TRUE(check(m));
  m.checkpoints.front().every = m.steps / 2;
  EXPECT_FALSE(check(m));
}

// Gaps that are almost all shorter than a nanosecond: time stands still.
TEST(ImpossibleRun, IsBrokenOff) {
  RunModel m = plain(1 / kOneHour, Seconds(0), Seconds(0));
  m.gaps = {.law = TimeForm::log_normal, .median = Seconds(1), .spread = 10};
  const auto endless = simulate_runs(m, 1000, kSeed, 2);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().message, "a run of 1000 does not end");
  m = plain(1 / kOneHour, Seconds(0), Seconds(0), 100'000);
  const auto many = simulate_runs(m, 1'000'000, kSeed, 2);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().text(),
            "forecast.runs: 1.7e+10 failures to simulate (1e+09 at most: write a smaller --runs)");
}

// One step of a tenth of a second and a save of 12 s: most of the run is no training, and it ends.
TEST(ShortRun, EndsHoweverLongItsOneSave) {
  RunModel m = plain(1 / kOneHour, Seconds(10), Seconds(12));
  m.steps = 1;
  m.step = Seconds(0.1);
  m.checkpoints.front().every = 1;
  const auto runs = simulate_runs(m, 100, kSeed, 1);
  ASSERT_TRUE(runs) << runs.error().text();
}

TEST(ImpossibleRun, IsRefusedInWords) {
  const auto refusal = [](const RunModel& m) {
    const auto out = simulate_runs(m, 1, kSeed, 1);
    return out ? std::string() : out.error().text();
  };
  EXPECT_EQ(refusal(plain(1 / kOneMinute, Seconds(10), Seconds(1))),
            "failures: the run would never end: a failure every 60.0 s, 600 s of training between "
            "checkpoints, 10.0 s to restart (write at most 250 s between checkpoints)");
  EXPECT_EQ(refusal(plain(1 / kOneMinute, kOneHour, Seconds(1))),
            "failures: the run would never end: a failure every 60.0 s, 600 s of training between "
            "checkpoints, 3600 s to restart (no interval of checkpoints lets it: failures or "
            "restarts must become fewer or shorter)");
  RunModel m = rich();
  m.checkpoints.front().survives = 1.2;
  EXPECT_EQ(refusal(m), "checkpoint: a probability of 1.2 (write one between 0 and 1)");
  m = rich();
  m.node_share = -0.1;
  EXPECT_EQ(refusal(m), "failures: a probability of -0.1 (write one between 0 and 1)");
  m = rich();
  m.checkpoints.back().durable = kOneHour;
  EXPECT_EQ(refusal(m),
            "checkpoint: a checkpoint takes 3600 s to become durable, and the next one comes after "
            "603 s (save less often, or with more bandwidth)");
  m = rich();
  m.steps = 1'000'000'000;
  EXPECT_EQ(refusal(m),
            "steps: without a failure the run would take 393 years (at most 10: more accelerators, "
            "or fewer tokens)");
  m = rich();
  m.evaluate_every = 1;
  m.evaluation = 24 * kOneHour;
  EXPECT_EQ(refusal(m),
            "steps: without a failure the run would take 164 years (at most 10: more accelerators, "
            "or fewer tokens)");
  m = rich();
  m.repair.spread = -1;
  EXPECT_EQ(refusal(m),
            "spread: a negative spread, -1 (write the standard deviation of the "
            "logarithm: 0 or more)");
}

}  // namespace
}  // namespace orrery
