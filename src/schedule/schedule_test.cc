// Orders, closed forms and memory of the classic pipeline schedules; deadlocks and wrong requests.
#include "schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "document/value.h"
#include "schedule/execution.h"
#include "schedule/in_flight.h"
#include "schedule/placement.h"

namespace orrery {
namespace {

using testing::HasSubstr;

std::string text(const std::vector<PipelineOperation>& order) {
  std::string out;
  for (const PipelineOperation& op : order) {
    out += (out.empty() ? "" : " ");
    out += op.action == PipelineAction::forward ? "F" : "B";
    out += std::to_string(op.microbatch);
    if (op.chunk > 0) out += std::string(op.chunk, '\'');
  }
  return out;
}

const Schedule& named(const char* name) { return **find_schedule(name); }

Pipeline made(const char* name, PipelineShape shape, int group = 0) {
  ScheduleRequest request;
  request.shape = shape;
  request.group = group;
  return *pipeline(named(name), request);
}

std::string order(const char* name, PipelineShape shape, std::size_t device) {
  return text(made(name, shape).order[device]);
}

// In units: forward f, fused backward b.
double makespan(const char* name, PipelineShape shape, double f, double b) {
  const PipelineTimes times = equal_times(shape, Picoseconds(f), Picoseconds(b), Picoseconds(0));
  return execute(made(name, shape), times)->measures.makespan.count();
}

TEST(Schedule, OrdersOfTheLiterature) {
  // arXiv 1811.06965; arXiv 2104.04473 (p = 4, m = 8, v = 2).
  EXPECT_EQ(order("gpipe", {4, 3, 1}, 2), "F0 F1 F2 B2 B1 B0");
  EXPECT_EQ(order("1f1b", {4, 5, 1}, 0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
  EXPECT_EQ(order("1f1b", {4, 5, 1}, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
  EXPECT_EQ(order("interleaved_1f1b", {4, 8, 2}, 3),
            "F0 F1 F2 F3 F0' B0' F1' B1' F2' B2' F3' B3' F4 B0 F5 B1 F6 B2 F7 B3 F4' B4' F5' B5' "
            "F6' B6' F7' B7' B4 B5 B6 B7");
}

TEST(Schedule, FewerMicrobatchesThanDevices) {
  EXPECT_EQ(order("1f1b", {4, 2, 1}, 0), "F0 F1 B0 B1");
}

TEST(Schedule, BubbleOfEqualStagesHasItsClosedForm) {
  for (const int p : {1, 2, 3, 4, 7, 8}) {
    for (const int m : {1, 2, 5, 8, 16}) {
      EXPECT_EQ(makespan("gpipe", {p, m, 1}, 1, 2), (m + p - 1) * 3);
      EXPECT_EQ(makespan("1f1b", {p, m, 1}, 1, 2), (m + p - 1) * 3);
    }
    for (const int groups : {1, 2, 4}) {
      for (const int v : {1, 2, 4}) {
        const int m = groups * p;
        // m (F + B) + (p - 1)(F + B) / v with per-chunk times F / v, B / v.
        EXPECT_EQ(makespan("interleaved_1f1b", {p, m, v}, 1, 2), 3 * m * v + (p - 1) * 3);
      }
    }
  }
}

TEST(Schedule, ClosedFormOfMemoryEqualsTheOrder) {
  for (const Schedule& schedule : schedules()) {
    if (schedule.peak_in_flight == nullptr || schedule.made_for_times) continue;
    for (const int p : {1, 2, 4, 5, 6}) {
      for (const int m : {1, 3, 4, 8, 10, 12, 20}) {
        for (const int v : {1, 2, 3}) {
          ScheduleRequest request;
          request.shape = {p, m, v};
          const auto made = pipeline(schedule, request);
          if (!made) continue;
          for (int device = 0; device < p; ++device) {
            EXPECT_EQ(schedule.peak_in_flight(request.shape, device),
                      peak_in_flight(*made, static_cast<std::size_t>(device)).held)
                << schedule.name << " p=" << p << " m=" << m << " v=" << v << " device " << device;
          }
        }
      }
    }
  }
}

TEST(Schedule, EveryPassOnceAndNoneBeforeWhatItNeeds) {
  for (const Schedule& schedule : schedules()) {
    for (const PipelineShape shape :
         {PipelineShape{4, 8, 1}, PipelineShape{4, 8, 2}, PipelineShape{4, 16, 3}}) {
      ScheduleRequest request;
      request.shape = shape;
      const auto made = pipeline(schedule, request);
      if (!made) continue;
      const auto order = linear_order(*made);
      ASSERT_TRUE(order) << schedule.name << ": " << order.error().text();
      // By microbatch and stage: forwards, input gradients, weight gradients.
      std::map<std::tuple<std::size_t, std::size_t>, std::array<int, 3>> count;
      for (const DeviceOperation& op : *order) {
        const PipelineOperation& o = op.operation;
        const auto add = [&](std::size_t chunk, std::uint32_t j, std::size_t what) {
          ++count[{j, made->stage_of(op.device, chunk)}][what];
        };
        if (o.action == PipelineAction::forward) add(o.chunk, o.microbatch, 0);
        if (o.action == PipelineAction::backward || o.action == PipelineAction::input_gradient) {
          add(o.chunk, o.microbatch, 1);
        }
        if (o.action == PipelineAction::backward || o.action == PipelineAction::weight_gradient) {
          add(o.chunk, o.microbatch, 2);
        }
        if (o.action == PipelineAction::forward_and_backward) {
          add(o.chunk, o.microbatch, 0);
          add(o.backward_chunk, o.backward_microbatch, 1);
          add(o.backward_chunk, o.backward_microbatch, 2);
        }
      }
      EXPECT_EQ(count.size(), made->stages() * static_cast<std::size_t>(shape.microbatches))
          << schedule.name;
      for (const auto& [key, n] : count) EXPECT_EQ(n, (std::array{1, 1, 1})) << schedule.name;
    }
  }
}

TEST(Schedule, ADeadlockIsNamed) {
  // Device 0 wants the backward before its own forward.
  Pipeline wrong = placed({2, 1, 1}, 1, loop_virtual_stage);
  for (auto& device : wrong.order) {
    device = {{PipelineAction::backward, 0, 0}, {PipelineAction::forward, 0, 0}};
  }
  const auto order = linear_order(wrong);
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().text(),
            "the schedule deadlocks: BW0 of stage 0 on device 0 waits for itself");
  // Two devices that wait for each other.
  Pipeline crossed = placed({2, 2, 1}, 1, loop_virtual_stage);
  crossed.order[0] = {{PipelineAction::forward, 0, 0},
                      {PipelineAction::backward, 0, 0},
                      {PipelineAction::forward, 0, 1},
                      {PipelineAction::backward, 0, 1}};
  crossed.order[1] = {{PipelineAction::forward, 0, 0},
                      {PipelineAction::forward, 0, 1},
                      {PipelineAction::backward, 0, 0},
                      {PipelineAction::backward, 0, 1}};
  EXPECT_EQ(linear_order(crossed).error().text(),
            "the schedule deadlocks: BW0 of stage 0 on device 0 waits for F1 of stage 1 on device "
            "1 waits for BW0 of stage 0 on device 0");
  crossed.order[1].pop_back();
  crossed.order[0] = {{PipelineAction::forward, 0, 0},
                      {PipelineAction::forward, 0, 1},
                      {PipelineAction::backward, 0, 0},
                      {PipelineAction::backward, 0, 1}};
  EXPECT_EQ(linear_order(crossed).error().text(),
            "the schedule never does what BW1 of stage 0 on device 0 waits for");
}

TEST(Schedule, LatencyTakesNoLinkAndTransfersDo) {
  const PipelineShape shape{2, 3, 1};
  PipelineTimes times =
      equal_times(shape, Picoseconds(10), Picoseconds(10), Picoseconds(0), Picoseconds(25));
  const Pipeline p = made("gpipe", shape);
  // Three forwards arrive 25 after their ends: 35, 45, 55; the backwards likewise.
  EXPECT_EQ(execute(p, times)->measures.makespan.count(), 10 + 25 + 30 + 30 + 25 + 10);
  times.latency.assign(2, Picoseconds(0));
  times.transfer.assign(2, Picoseconds(25));
  // Arrivals 35, 60, 85; the first backward ends at 105, is sent on, and so on.
  EXPECT_EQ(execute(p, times)->measures.makespan.count(), 10 + 3 * 25 + 10 + 10 + 3 * 25 + 10);
}

TEST(Schedule, BlockingSendsTakeBothEnds) {
  const auto makespan = [](int microbatches, Sends sends) {
    const PipelineShape shape{2, microbatches, 1};
    const PipelineTimes times =
        equal_times(shape, Picoseconds(10), Picoseconds(20), Picoseconds(0), Picoseconds(3));
    return execute(made("gpipe", shape), times, sends)->measures.makespan.count();
  };
  // One microbatch: both devices take part in a transfer at the same time.
  EXPECT_EQ(makespan(1, Sends::asynchronous), 60 + 2 * 3);
  EXPECT_EQ(makespan(1, Sends::blocking), 60 + 2 * 3);
  // Every further one waits for another send or receive in each direction.
  EXPECT_EQ(makespan(5, Sends::asynchronous), (5 + 1) * 30 + 2 * 3);
  EXPECT_EQ(makespan(5, Sends::blocking), (5 + 1) * 30 + 2 * 3 + 4 * 2 * 3);
}

TEST(Schedule, WrongShapesAndNames) {
  const auto problem = [](const char* name, PipelineShape shape, int group = 0) {
    ScheduleRequest request;
    request.shape = shape;
    request.group = group;
    const auto problems = schedule_problems(named(name), request);
    return problems.empty() ? "" : problems.front();
  };
  EXPECT_EQ(problem("interleaved_1f1b", {4, 6, 2}),
            "interleaved_1f1b passes microbatches in groups of one a device: 6 microbatches are "
            "not a multiple "
            "of 4");
  EXPECT_EQ(problem("interleaved_1f1b", {4, 16, 2}, 6), "");
  EXPECT_EQ(problem("interleaved_1f1b", {4, 14, 2}, 6),
            "interleaved_1f1b passes microbatches in groups of 6: 14 microbatches are not a "
            "multiple of 6, nor leave a last group of 4 or more");
  EXPECT_EQ(
      problem("interleaved_1f1b", {4, 15, 2}, 3),
      "interleaved_1f1b passes microbatches in groups of one a device or more: a group of 3 on 4 "
      "devices");
  EXPECT_EQ(problem("1f1b", {0, 6, 1}), "devices 0 is below 1");
  EXPECT_EQ(problem("1f1b", {1000, 1000000, 1}),
            "1000000 microbatches on 1000 devices of 1 chunks are more than the 16777216 "
            "operations that are simulated");
  EXPECT_EQ(find_schedule("1f2b").error().text(), "unknown schedule '1f2b' (did you mean '1f1b'?)");
  EXPECT_EQ((*find_schedule("interleaved-1f1b"))->name, "interleaved_1f1b");
}

// docs/schedules.md has a section and a picture of every schedule.
TEST(ScheduleDocumentation, HasEverySchedule) {
  const std::string root = std::string(ORRERY_SOURCE_DIR) + "/docs/";
  const std::string page = *read_file(root + "schedules.md");
  for (const Schedule& schedule : schedules()) {
    const std::string picture = "images/schedules/" + std::string(schedule.name) + ".svg";
    EXPECT_THAT(page, HasSubstr(std::string(schedule.name)));
    EXPECT_THAT(page, HasSubstr("(" + picture + ")"));
    EXPECT_TRUE(read_file(root + picture)) << "make schedule-pictures draws " << picture;
  }
}

}  // namespace
}  // namespace orrery
