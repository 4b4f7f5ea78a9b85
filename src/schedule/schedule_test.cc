// Orders, closed forms and memory of the pipeline schedules.
#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace orrery {
namespace {

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

// Makespan with unit times: forward f, backward b per chunk, no transfers.
double makespan(const Schedule& schedule, const PipelineShape& shape, double f, double b) {
  std::vector<double> device(static_cast<std::size_t>(shape.devices));
  std::map<std::pair<int, std::uint32_t>, double> forward, backward;
  const auto order = linear_order(schedule, shape);
  for (const DeviceOperation& op : *order) {
    const int s = schedule.virtual_stage(shape, static_cast<int>(op.device), op.operation.chunk);
    const std::uint32_t j = op.operation.microbatch;
    double start = device[op.device];
    if (op.operation.action == PipelineAction::forward) {
      if (s > 0) start = std::max(start, forward.at({s - 1, j}));
      device[op.device] = forward[{s, j}] = start + f;
    } else {
      start = std::max(start, forward.at({s, j}));
      if (s + 1 < shape.virtual_stages()) start = std::max(start, backward.at({s + 1, j}));
      device[op.device] = backward[{s, j}] = start + b;
    }
  }
  return *std::max_element(device.begin(), device.end());
}

TEST(Schedule, OrdersOfTheLiterature) {
  // arXiv 1811.06965 Fig. 2; arXiv 2104.04473 Fig. 4 (p = 4, m = 8, v = 2).
  EXPECT_EQ(text(named("gpipe").order({4, 3, 1}, 2)), "F0 F1 F2 B2 B1 B0");
  EXPECT_EQ(text(named("1f1b").order({4, 5, 1}, 0)), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
  EXPECT_EQ(text(named("1f1b").order({4, 5, 1}, 3)), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
  EXPECT_EQ(text(named("interleaved_1f1b").order({4, 8, 2}, 3)),
            "F0 F1 F2 F3 F0' B0' F1' B1' F2' B2' F3' B3' F4 B0 F5 B1 F6 B2 F7 B3 F4' B4' F5' B5' "
            "F6' B6' F7' B7' B4 B5 B6 B7");
}

TEST(Schedule, FewerMicrobatchesThanDevices) {
  EXPECT_EQ(text(named("1f1b").order({4, 2, 1}, 0)), "F0 F1 B0 B1");
}

TEST(Schedule, BubbleOfEqualStagesHasItsClosedForm) {
  for (const int p : {1, 2, 3, 4, 7, 8}) {
    for (const int m : {1, 2, 5, 8, 16}) {
      const double f = 1;
      const double b = 2;
      EXPECT_DOUBLE_EQ(makespan(named("gpipe"), {p, m, 1}, f, b), (m + p - 1) * (f + b));
      EXPECT_DOUBLE_EQ(makespan(named("1f1b"), {p, m, 1}, f, b), (m + p - 1) * (f + b));
    }
    for (const int groups : {1, 2, 4}) {
      for (const int v : {1, 2, 4}) {
        const int m = groups * p;
        // m (F + B) + (p - 1)(F + B) / v with per-chunk times F / v, B / v.
        EXPECT_DOUBLE_EQ(makespan(named("interleaved_1f1b"), {p, m, v}, 1, 2),
                         3.0 * m * v + (p - 1) * 3.0);
      }
    }
  }
}

TEST(Schedule, ClosedFormOfMemoryEqualsTheOrder) {
  for (const Schedule& schedule : schedules()) {
    for (const int p : {1, 2, 4, 5}) {
      for (const int m : {1, 3, 4, 8, 10, 20}) {
        for (const int v : {1, 2, 3}) {
          const PipelineShape shape{p, m, v};
          if (!schedule.problems(shape).empty()) continue;
          for (int device = 0; device < p; ++device) {
            EXPECT_EQ(schedule.peak_in_flight(shape, device),
                      in_flight_by_order(schedule, shape, device))
                << schedule.name << " p=" << p << " m=" << m << " v=" << v << " device " << device;
          }
        }
      }
    }
  }
}

TEST(Schedule, EveryOperationOnceAndInDependencyOrder) {
  for (const Schedule& schedule : schedules()) {
    for (const PipelineShape shape : {PipelineShape{4, 8, 1}, PipelineShape{4, 8, 3}}) {
      if (!schedule.problems(shape).empty()) continue;
      const auto order = linear_order(schedule, shape);
      ASSERT_TRUE(order);
      EXPECT_EQ(order->size(),
                static_cast<std::size_t>(2 * shape.virtual_stages() * shape.microbatches));
      std::map<std::tuple<std::uint32_t, int, std::uint32_t, int>, int> count;
      for (const DeviceOperation& op : *order) {
        ++count[{op.device, op.operation.chunk, op.operation.microbatch,
                 static_cast<int>(op.operation.action)}];
      }
      for (const auto& [key, n] : count) EXPECT_EQ(n, 1);
    }
  }
}

TEST(Schedule, ADeadlockIsNamed) {
  // Device 0 wants the backward before its own forward.
  const Schedule wrong{"wrong", [](const PipelineShape&) { return std::vector<std::string>(); },
                       [](const PipelineShape&, int) {
                         return std::vector<PipelineOperation>{{PipelineAction::backward, 0, 0},
                                                               {PipelineAction::forward, 0, 0}};
                       },
                       [](const PipelineShape&, int device, int) { return device; }, nullptr};
  const auto order = linear_order(wrong, {2, 1, 1});
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().text(),
            "schedule wrong deadlocks: each of these waits for another: B0 of chunk 0 on device 0; "
            "B0 of chunk 0 on device 1");
}

TEST(Schedule, WrongShapesAndNames) {
  EXPECT_EQ(
      named("interleaved_1f1b").problems({4, 6, 2}).front(),
      "interleaved_1f1b passes microbatches in groups of pp: 6 microbatches are not a multiple "
      "of 4");
  EXPECT_EQ(find_schedule("1f2b").error().text(), "unknown schedule '1f2b' (did you mean '1f1b'?)");
  EXPECT_EQ((*find_schedule("interleaved-1f1b"))->name, "interleaved_1f1b");
}

}  // namespace
}  // namespace orrery
