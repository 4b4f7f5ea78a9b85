// Phases, planned stops, racks and elastic continuation of simulated runs.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "forecast/run_simulation.h"

namespace orrery {
namespace {

constexpr std::uint64_t kPartsSeed = 11;
constexpr std::int64_t kBillion = 1'000'000'000;

RunModel run_of_steps(std::int64_t steps) {
  RunModel m;
  m.steps = steps;
  m.step = Seconds(10);
  m.checkpoints = {{.every = 60, .blocked = Seconds(3), .durable = Seconds(40)}};
  m.restart = {{.name = "restart", .time = {.mean = Seconds(120)}, .first_start = true}};
  return m;
}

// With failures, phases, stops, racks, spares and fewer replicas.
RunModel with_all_parts() {
  RunModel m = run_of_steps(20'000);
  m.later = {{1'000, Seconds(13)}, {1'001, Seconds(7.000000001)}, {15'000, Seconds(20)}};
  m.nodes = 64;
  m.failure_rate = 1 / Seconds(64 * 9000);
  m.evaluate_every = 130;
  m.evaluation = Seconds(200);
  m.checkpoints.insert(m.checkpoints.begin(), {.every = 7,
                                               .blocked = Seconds(0.5),
                                               .durable = Seconds(4),
                                               .restore = Seconds(9),
                                               .survives = 0.8});
  m.node_share = 0.6;
  m.racks = {.nodes = 4, .share = 0.2};
  m.spares = 2;
  m.repair = {.law = TimeForm::log_normal, .median = Seconds(30'000), .spread = 1};
  m.elastic = ElasticReplicas{.replicas = 16, .least = 12};
  m.planned = PlannedStops{Seconds(50'000), {.mean = Seconds(900)}};
  return m;
}

std::vector<RunOutcome> runs_of(const RunModel& m, std::int64_t runs = 200) {
  auto out = simulate_runs(m, runs, kPartsSeed, 2);
  EXPECT_TRUE(out) << out.error().text();
  return out ? *out : std::vector<RunOutcome>(1);
}

std::int64_t total(const std::vector<RunOutcome>& runs, Badput badput) {
  std::int64_t sum = 0;
  for (const RunOutcome& run : runs) sum += run.badput_ns[static_cast<std::size_t>(badput)];
  return sum;
}
std::int64_t total_wall(const std::vector<RunOutcome>& runs) {
  std::int64_t sum = 0;
  for (const RunOutcome& run : runs) sum += run.wall_ns;
  return sum;
}

TEST(RunParts, SpendEveryNanosecondOnce) {
  const auto runs = runs_of(with_all_parts());
  for (const RunOutcome& run : runs) {
    const auto& b = run.badput_ns;
    EXPECT_EQ(run.wall_ns,
              run.productive_ns + std::accumulate(b.begin(), b.end(), std::int64_t{0}));
    EXPECT_EQ(run.productive_ns,
              10'000 * kBillion + 13 * kBillion + 13'999 * 7'000'000'001 + kBillion * 5'000 * 20);
    for (const std::int64_t ns : b) EXPECT_GE(ns, 0);
  }
  EXPECT_GT(total(runs, Badput::planned_interruptions), 0);
  EXPECT_GT(total(runs, Badput::fewer_replicas), 0);
  EXPECT_EQ(runs, *simulate_runs(with_all_parts(), 200, kPartsSeed, 4));
}

// A cut between steps of the same time changes nothing.
TEST(RunParts, MayBeCutIntoPhasesOfTheSameStep) {
  RunModel m = with_all_parts();
  m.later.clear();
  const auto whole = runs_of(m);
  for (const std::int64_t after : {1, 59, 60, 61, 12'345, 19'999}) {
    m.later.push_back({after, m.step});
  }
  EXPECT_EQ(runs_of(m), whole);
}

// Failures at stated moments, against a walk step by step.
TEST(RunParts, WalkPhasesAsStepsOneByOne) {
  std::mt19937 random(3);
  const auto any = [&](int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
  };
  for (int trial = 0; trial < 300; ++trial) {
    RunModel m = run_of_steps(any(50, 3000));
    m.gaps = {.mean = Seconds(1)};
    m.failure_rate = 1 / Seconds(any(600, 9000));
    m.restart.front().first_start = false;
    m.checkpoints.front().every = any(5, 15);
    m.checkpoints.front().durable = Seconds(any(3, 18));
    m.evaluate_every = any(1, 40);
    m.evaluation = Seconds(any(0, 9));
    for (std::int64_t after = any(1, 300); after < m.steps; after += any(1, 900)) {
      m.later.push_back({after, Seconds(any(4, 30))});
    }
    const auto step_after = [&](std::int64_t done) {
      Seconds step = m.step;
      for (const LaterSteps& l : m.later) step = done >= l.after ? l.step : step;
      return static_cast<std::int64_t>(step.value());
    };
    const CheckpointLevel& level = m.checkpoints.front();
    const auto gap = std::llround((1 / m.failure_rate).value());
    std::int64_t now = 0;
    std::int64_t failure = gap;
    std::int64_t safe = 0;
    for (std::int64_t done = 0; done < m.steps;) {
      std::int64_t begun = 0;  // the save that is under way
      std::int64_t durable = 0;
      while (done < m.steps) {
        std::int64_t next = now + step_after(done);
        if ((done + 1) % m.evaluate_every == 0) next += std::llround(m.evaluation.value());
        const bool saves = (done + 1) % level.every == 0;
        const std::int64_t save = next;
        if (saves) next += std::llround(level.blocked.value());
        if (begun > 0 && durable <= std::min(next, failure)) safe = std::exchange(begun, 0);
        if (next > failure) {
          if (saves && save + std::llround(level.durable.value()) <= failure) safe = done + 1;
          break;
        }
        now = next;
        ++done;
        if (saves) {
          begun = done;
          durable = save + std::llround(level.durable.value());
          if (durable <= now) safe = std::exchange(begun, 0);
        }
      }
      if (done == m.steps) break;
      done = safe;
      now = failure + 120;
      failure += gap;
    }
    EXPECT_EQ(runs_of(m, 1).front().wall_ns, now * kBillion) << trial;
  }
}

// Stops at 100,000 s and so on, each with a save of 40 s, 900 s and a start of 120 s.
TEST(PlannedStops, TakeTheirTimeAndLoseNoStep) {
  RunModel m = run_of_steps(60'000);
  m.checkpoints.front().blocked = Seconds(0);
  m.planned = PlannedStops{Seconds(100'000), {.mean = Seconds(900)}};
  const RunOutcome run = runs_of(m, 1).front();
  EXPECT_EQ(run.planned, 5);  // the sixth would come at the end
  EXPECT_EQ(run.interruptions, 0);
  EXPECT_EQ(run.wall_ns, (600'000 + 120 + 5 * (40 + 900 + 120)) * kBillion);
  EXPECT_EQ(total({run}, Badput::planned_interruptions), kBillion * 5 * 900);
  EXPECT_EQ(total({run}, Badput::wasted_progress_from_disruption), 0);
}

TEST(PlannedStops, ThatAreFrequentStillLetTheRunEnd) {
  RunModel m = run_of_steps(500);
  m.planned = PlannedStops{Seconds(1), {.mean = Seconds(60)}};
  EXPECT_EQ(runs_of(m, 1).front().planned, 499);
  m.planned->every = Seconds(0);
  EXPECT_EQ(check(m).error().text(), "planned.every: an interval that is not above 0 (write 27 h)");
}

TEST(ElasticRun, WithRepairsThatTakeNoTimeAlwaysHasAnotherNode) {
  RunModel m = with_all_parts();
  m.repair = {.mean = Seconds(0)};
  m.spares = 0;
  const auto elastic = runs_of(m);
  m.elastic.reset();
  m.spares.reset();
  EXPECT_EQ(elastic, runs_of(m));
}

TEST(ElasticRun, ThatNeedsAllReplicasWaits) {
  RunModel m = with_all_parts();
  m.elastic->least = m.elastic->replicas;
  const auto elastic = runs_of(m);
  m.elastic.reset();
  EXPECT_EQ(elastic, runs_of(m));
}

// 64 nodes in 16 replicas: one node that is missing takes a replica of four nodes with it.
TEST(ElasticRun, GoesOnWithFewerReplicasUntilARepairEnds) {
  RunModel m = run_of_steps(10'000);
  m.checkpoints = {{.every = 1}};
  m.nodes = 64;
  m.spares = 0;
  m.failure_rate = 1 / Seconds(64 * 60'000.0);
  m.gaps = {.mean = Seconds(1)};
  m.elastic = ElasticReplicas{.replicas = 16, .least = 15};
  m.repair = {.mean = Seconds(1e9)};
  m.steps = 8'000;
  // 120 s of the start, 5,988 steps until 60,000 s, 120 s, 2,012 steps that take 16/15 as long.
  EXPECT_EQ(runs_of(m, 1).front().wall_ns,
            60'000 * kBillion + 120 * kBillion + 2'012 * 10'666'666'667);
  m.repair.mean = Seconds(120 + 16 * 10);  // 15 steps later
  EXPECT_EQ(runs_of(m, 1).front().wall_ns,
            60'120 * kBillion + 15 * 10'666'666'667 + kBillion * 1'997 * 10);
}

TEST(ElasticRun, EndsBeforeOneThatWaits) {
  RunModel m = with_all_parts();
  const std::int64_t with_twelve = total_wall(runs_of(m));
  m.elastic->least = 15;
  const std::int64_t with_fifteen = total_wall(runs_of(m));
  m.elastic.reset();
  EXPECT_LT(with_twelve, with_fifteen);
  EXPECT_LT(with_fifteen, total_wall(runs_of(m)));
}

TEST(FailingRacks, TakeTheirNodesTogether) {
  RunModel m = with_all_parts();
  m.racks = {};
  m.node_share = 1;
  const auto nodes = runs_of(m);
  m.racks = {.nodes = 1, .share = 1};
  EXPECT_EQ(runs_of(m), nodes);
  m.racks.nodes = 2;
  const std::int64_t pairs = total_wall(runs_of(m));
  EXPECT_GT(pairs, total_wall(nodes));
  m.spares = 2 * *m.spares + 100;
  EXPECT_LT(total_wall(runs_of(m)), pairs);
}

TEST(RunParts, ThatCannotBeAreRefusedInWords) {
  const auto refusal = [](const RunModel& m) {
    const auto sound = check(m);
    return sound ? std::string() : sound.error().text();
  };
  RunModel m = with_all_parts();
  m.spares.reset();
  EXPECT_EQ(refusal(m),
            "elastic: without a number of spares there is always another node (write spares as "
            "well: 0 or more)");
  m = with_all_parts();
  m.racks.nodes = 65;
  EXPECT_EQ(refusal(m), "racks.nodes: racks of 65 nodes, and a job of 64");
  m.racks.nodes = 0;
  EXPECT_EQ(refusal(m), "racks.nodes: racks without nodes (write 1 or more)");
  m = with_all_parts();
  m.later = {{20'000, Seconds(1)}};
  EXPECT_EQ(refusal(m), "phases: phases that do not follow each other within the run");
}

}  // namespace
}  // namespace orrery
