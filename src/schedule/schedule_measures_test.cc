// Idle time by cause, held memory over time, lifetimes: closed forms and conservation.
#include <gtest/gtest.h>

#include <random>

#include "schedule/bubble.h"
#include "schedule/in_flight.h"
#include "schedule/memory_curve.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

struct Executed {
  Pipeline pipeline;
  PipelineTimes times;
  PipelineExecution execution;
};

Executed executed(const Schedule& schedule, const PipelineShape& shape, const PipelineTimes& times,
                  Sends sends = Sends::asynchronous) {
  ScheduleRequest request;
  request.shape = shape;
  request.times = times;
  Executed out{*pipeline(schedule, request), times, {}};
  out.execution = *execute(out.pipeline, times, sends);
  return out;
}

Executed executed(const char* name, const PipelineShape& shape, const PipelineTimes& times) {
  return executed(**find_schedule(name), shape, times);
}

Picoseconds idle(const Executed& r, std::size_t device, IdleCause cause) {
  return idle_by_cause(r.pipeline, r.execution)[device][cause];
}

// 1F1B of equal stages without latency: device i waits i F for the first input, ends i B early and
// loses the rest of (p-1)(F+B) between.
TEST(Bubble, OfEqualStagesHasItsClosedForm) {
  const int p = 4;
  const PipelineShape shape{p, 9, 1};
  const Executed r =
      executed("1f1b", shape, equal_times(shape, Picoseconds(10), Picoseconds(12), Picoseconds(8)));
  for (int i = 0; i < p; ++i) {
    const auto d = static_cast<std::size_t>(i);
    EXPECT_EQ(idle(r, d, IdleCause::fill), Picoseconds(10) * i);
    EXPECT_EQ(idle(r, d, IdleCause::drain), Picoseconds(20) * i);
    EXPECT_EQ(idle(r, d, IdleCause::dependency), Picoseconds(30) * (p - 1 - i));
    EXPECT_EQ(idle(r, d, IdleCause::communication), Picoseconds(0));
    EXPECT_EQ(idle(r, d, IdleCause::imbalance), Picoseconds(0));
  }
}

// The exposed latency c of fixed orders is a closed form when c is small against the passes: GPipe
// with m >= 2p loses 2(p-1) c, 1F1B with p | m [2(p-1) m/p + 2(p-2)] c, interleaved 1F1B with p | m
// 2(pv-1) c.
TEST(Bubble, LatencyIsCommunication) {
  const Picoseconds f(7000);
  const Picoseconds c(7);
  for (const int p : {4, 8}) {
    for (const int m : {2 * p, 4 * p}) {
      const auto exposed = [&](const char* name, int v) {
        const PipelineShape shape{p, m, v};
        const Executed r = executed(name, shape, equal_times(shape, f, f, f, c));
        for (std::size_t d = 1; d < static_cast<std::size_t>(p); ++d) {
          EXPECT_EQ(idle(r, d, IdleCause::communication), idle(r, 0, IdleCause::communication));
          EXPECT_EQ(idle(r, d, IdleCause::imbalance), Picoseconds(0));
        }
        return idle(r, 0, IdleCause::communication).count() / c.count();
      };
      EXPECT_EQ(exposed("gpipe", 1), 2 * (p - 1));
      EXPECT_EQ(exposed("1f1b", 1), 2 * (p - 1) * m / p + 2 * (p - 2));
      EXPECT_EQ(exposed("interleaved_1f1b", 2), 2 * (p * 2 - 1));
    }
  }
}

// GPipe on two devices, F 100 and 300 (mean 200), B + W 600 for both: the makespan is 100 + 4 x 300
// + 4 x 600 + 600 = 4300, balanced 5 x 800 = 4000. Device 0 waits 1500, balanced 800 (the turn of
// one microbatch); device 1 waits 100 for its first input, less than the 200 when balanced.
TEST(Bubble, ASlowStageIsImbalance) {
  const PipelineShape shape{2, 4, 1};
  PipelineTimes times = equal_times(shape, Picoseconds(300), Picoseconds(300), Picoseconds(300));
  times.stage[0].forward = Picoseconds(100);
  const Executed r = executed("gpipe", shape, times);
  EXPECT_EQ(idle(r, 0, IdleCause::imbalance), Picoseconds(700));
  EXPECT_EQ(idle(r, 0, IdleCause::dependency), Picoseconds(800));
  EXPECT_EQ(idle(r, 0, IdleCause::drain), Picoseconds(0));
  EXPECT_EQ(idle(r, 1, IdleCause::fill), Picoseconds(100));
  EXPECT_EQ(idle(r, 1, IdleCause::drain), Picoseconds(600));
  EXPECT_EQ(idle(r, 1, IdleCause::imbalance), Picoseconds(0));
}

// Over every schedule, random times, latency and both ways to send: the causes add up to what the
// device does not compute, none is negative; the highest point of the curve is the peak.
TEST(Bubble, CausesAddUpToIdleAndCurvesReachThePeak) {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<double>(random() % n); };
  int runs = 0;
  for (const Schedule& schedule : schedules()) {
    for (const PipelineShape& shape :
         {PipelineShape{2, 4, 1}, PipelineShape{4, 8, 1}, PipelineShape{4, 8, 2},
          PipelineShape{6, 12, 2}, PipelineShape{4, 12, 4}}) {
      ScheduleRequest request;
      request.shape = shape;
      if (!schedule_problems(schedule, request).empty()) continue;
      PipelineTimes times = equal_times(shape, Picoseconds(100), Picoseconds(100), Picoseconds(100),
                                        Picoseconds(below(30)));
      for (StageTimes& s : times.stage) {
        s.forward = Picoseconds(50 + below(100));
        s.input_gradient = Picoseconds(50 + below(100));
        s.weight_gradient = Picoseconds(50 + below(100));
        s.backward = s.input_gradient + s.weight_gradient;
        s.forward_and_backward = s.forward + s.backward;
      }
      for (Picoseconds& t : times.transfer) t = Picoseconds(below(20));
      for (const Sends sends : {Sends::asynchronous, Sends::blocking}) {
        request.times = times;
        const auto made = pipeline(schedule, request);
        if (!made) continue;  // a limit the times do not allow
        const auto execution = execute(*made, times, sends);
        if (!execution) {
          EXPECT_EQ(sends, Sends::blocking) << schedule.name;  // which may deadlock
          continue;
        }
        ++runs;
        const auto causes = idle_by_cause(*made, *execution);
        const auto curves = memory_curves(*made, *execution, times);
        const auto lives = activation_lifetimes(*made, *execution);
        for (std::size_t d = 0; d < causes.size(); ++d) {
          EXPECT_EQ(causes[d].total(), execution->measures.makespan - execution->measures.busy[d])
              << schedule.name << " device " << d;
          for (const Picoseconds t : causes[d].by_cause) EXPECT_GE(t, Picoseconds(0));
          double peak = 0;
          double area = 0;
          for (std::size_t i = 0; i < curves[d].size(); ++i) {
            peak = std::max(peak, curves[d][i].held);
            const Picoseconds until =
                i + 1 < curves[d].size() ? curves[d][i + 1].at : execution->measures.makespan;
            area += curves[d][i].held * (until - curves[d][i].at).count();
          }
          EXPECT_DOUBLE_EQ(peak, execution->measures.peak_memory[d]) << schedule.name;
          ASSERT_FALSE(curves[d].empty());
          EXPECT_EQ(curves[d].back().held, 0);
          // Little's law: what is held over time is what each activation is held for. Offloaded
          // activations live longer than they are held.
          EXPECT_LE(area, lives[d].sum.count()) << schedule.name;
          if (made->order[d].size() ==
              static_cast<std::size_t>(std::count_if(
                  made->order[d].begin(), made->order[d].end(), [](const PipelineOperation& op) {
                    return op.action != PipelineAction::offload &&
                           op.action != PipelineAction::reload;
                  }))) {
            EXPECT_EQ(area, lives[d].sum.count()) << schedule.name;
          }
        }
      }
    }
  }
  EXPECT_GE(runs, 10);
}

// 1F1B with F and B: the last device holds each activation F + B. Device 0 starts its last warm-up
// forward at (p-1) F; the gradient of microbatch 0 is done at p (F + B) and each next one F + B
// later, so that forward's activations live p (F + B) + (p - 1) B.
TEST(Lifetimes, OfOneForwardOneBackward) {
  const PipelineShape shape{4, 8, 1};
  const Executed r = executed(
      "1f1b", shape, equal_times(shape, Picoseconds(10), Picoseconds(10), Picoseconds(10)));
  const auto lives = activation_lifetimes(r.pipeline, r.execution);
  EXPECT_EQ(lives[0].count, 8);
  EXPECT_EQ(lives[3].longest, Picoseconds(30));
  EXPECT_EQ(lives[3].sum, Picoseconds(8 * 30));
  EXPECT_EQ(lives[0].longest, Picoseconds(4 * 30 + 3 * 20));
}

}  // namespace
}  // namespace orrery
