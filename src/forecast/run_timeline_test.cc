#include "forecast/run_timeline.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr auto kRedone = static_cast<std::size_t>(Badput::wasted_progress_from_disruption);

RunModel model_that_fails() {
  RunModel m;
  m.steps = 20'000;
  m.step = Seconds(10);
  m.failure_rate = 1 / Seconds(3600);
  m.evaluate_every = 130;
  m.evaluation = Seconds(300);
  m.checkpoints = {
      {.every = 15,
       .blocked = Seconds(0.5),
       .durable = Seconds(4),
       .restore = Seconds(9),
       .survives = 0.7},
      {.every = 60, .blocked = Seconds(3), .durable = Seconds(200), .restore = Seconds(90)}};
  m.restart = {{.name = "restart",
                .time = {.law = TimeForm::exponential, .mean = Seconds(400)},
                .first_start = true}};
  return m;
}

std::vector<RunStretch> timeline_of(const RunModel& m, std::uint64_t run, const RunOutcome& same) {
  RunRecord record{.run = run};
  const auto again = simulate_runs(m, 1, 3, 1, {}, &record);
  EXPECT_TRUE(again && again->front() == same) << "run " << run;
  return run_timeline(record, same);
}

TEST(RunTimeline, AddsUpToTheRunThatWasSimulated) {
  const RunModel m = model_that_fails();
  const auto runs = simulate_runs(m, 20, 3, 2);
  ASSERT_TRUE(runs) << runs.error().text();
  for (std::uint64_t i = 0; i < runs->size(); ++i) {
    const RunOutcome& run = (*runs)[i];
    std::array<std::int64_t, kBadputs> lost{};
    std::int64_t productive = 0;
    std::int64_t interruptions = 0;
    std::int64_t end = 0;
    for (const RunStretch& s : timeline_of(m, i, run)) {
      EXPECT_EQ(s.start_ns, end);
      EXPECT_GT(s.end_ns, s.start_ns);
      EXPECT_GE(s.productive_ns(), 0);
      end = s.end_ns;
      productive += s.productive_ns();
      interruptions += s.interrupted ? 1 : 0;
      for (std::size_t b = 0; b < kBadputs; ++b) lost[b] += s.lost_ns[b];
    }
    EXPECT_EQ(end, run.wall_ns);
    EXPECT_EQ(lost, run.badput_ns);
    EXPECT_EQ(productive, run.productive_ns);
    EXPECT_EQ(interruptions, run.interruptions);
  }
}

TEST(RunTimeline, UndoesTheStepsBeforeAFailure) {
  // 100 steps of 1 s, saved every 10 in no time; one failure after 25.5 s, 5 s of restart.
  const RunRecord record{
      .lost = {{0, 1'000'000'000, Badput::custom_badput_events, 0},
               {1'000'000'000, 500'000'000, Badput::wasted_progress_from_disruption, 0},
               {26'500'000'000, 5'000'000'000, Badput::wasted_progress_from_disruption, 1},
               {26'500'000'000, 5'000'000'000, Badput::infrastructure_recovery_from_disruption, 1},
               {31'500'000'000, 0, Badput::unproductive_checkpoint_save_time, 1}}};
  const auto stretches = run_timeline(record, {.wall_ns = 111'500'000'000});
  ASSERT_EQ(stretches.size(), 5u);
  EXPECT_EQ(stretches[0].productive_ns(), 0);
  EXPECT_EQ(stretches[1].productive_ns(), 20'000'000'000);
  EXPECT_EQ(stretches[2].start_ns, 21'000'000'000);
  EXPECT_EQ(stretches[2].lost_ns[kRedone], 5'500'000'000);
  EXPECT_TRUE(stretches[2].interrupted);
  EXPECT_EQ(stretches[3].productive_ns(), 0);
  EXPECT_EQ(stretches[4].productive_ns(), 80'000'000'000);
}

TEST(RunTimeline, OfARunWithoutFailuresIsOneStretch) {
  RunModel m = model_that_fails();
  m.failure_rate = Hertz(0);
  m.restart.clear();
  const auto run = simulate_runs(m, 1, 3, 1);
  ASSERT_TRUE(run) << run.error().text();
  const auto stretches = timeline_of(m, 0, run->front());
  ASSERT_EQ(stretches.size(), 1u);
  EXPECT_EQ(stretches[0].productive_ns(), run->front().productive_ns);
}

}  // namespace
}  // namespace orrery
