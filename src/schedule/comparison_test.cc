// The comparison of all schedules: its rows are simulated orders with the closed forms of the
// literature, and follow the times.
#include "schedule/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

using testing::HasSubstr;

Comparison compared(int devices, int microbatches, const char* times = "") {
  ComparisonRequest request;
  request.devices = devices;
  request.microbatches = microbatches;
  request.times = *parse_stated_times(times);
  return *compare_schedules(request);
}

const ComparedSchedule& row(const Comparison& c, std::string_view name, int chunks = 0) {
  for (const ComparedSchedule& s : c.schedules) {
    if (s.schedule->name == name && (chunks == 0 || s.shape.chunks == chunks)) return s;
  }
  ADD_FAILURE() << "no " << name;
  return c.schedules.front();
}

// F = B = W = 1 of a device's share of a microbatch, no latency: idle per device, weights, peak in
// microbatches and sends, as the papers of each schedule give them.
TEST(Comparison, ClosedFormsOfTheLiterature) {
  for (const int p : {4, 8}) {
    const int m = 4 * p;
    const Comparison c = compared(p, m);
    const auto expect = [&](std::string_view name, int v, double idle, double weights, double peak,
                            double sends) {
      const ComparedSchedule& s = row(c, name, v);
      ASSERT_TRUE(s.fits()) << name << ": " << s.reason;
      EXPECT_NEAR(s.idle, idle, 1e-9) << name;
      EXPECT_EQ(s.weights, weights) << name;
      EXPECT_NEAR(s.peak, peak, 1e-9) << name;
      EXPECT_EQ(s.sends, sends) << name;
    };
    expect("gpipe", 1, 3 * (p - 1), 1, m, 1);
    expect("1f1b", 1, 3 * (p - 1), 1, p, 1);
    for (const int v : {2, 4}) {
      expect("interleaved_1f1b", v, 3.0 * (p - 1) / v, 1, p * (1 + (p - 1.0) / (p * v)), v);
    }
  }
}

TEST(Comparison, FollowsTheTimes) {
  const Comparison before = compared(4, 16);
  const Comparison after = compared(4, 16, "f=1,b=2,w=1,comm=0.25");
  int changed = 0;
  for (std::size_t i = 0; i < before.schedules.size(); ++i) {
    if (!before.schedules[i].fits()) continue;
    EXPECT_GT(after.schedules[i].makespan, before.schedules[i].makespan)
        << before.schedules[i].schedule->name;
    if (after.schedules[i].bubble_ratio != before.schedules[i].bubble_ratio) ++changed;
  }
  EXPECT_GE(changed, 3);
  // Latency is paid once a hop by GPipe and at every turn by 1F1B: equal before, apart after.
  EXPECT_EQ(row(before, "gpipe").idle, row(before, "1f1b").idle);
  EXPECT_LT(row(after, "gpipe").idle, row(after, "1f1b").idle);
}

TEST(Comparison, MarksTheFastestTheSmallestAndTheFront) {
  const Comparison c = compared(4, 16);
  int fastest = 0;
  int smallest = 0;
  for (const ComparedSchedule& s : c.schedules) {
    fastest += s.fastest ? 1 : 0;
    smallest += s.smallest ? 1 : 0;
    if (!s.on_front) continue;
    for (const ComparedSchedule& other : c.schedules) {
      if (!other.fits() || other.schedule->asynchronous) continue;
      EXPECT_FALSE(other.makespan < s.makespan - 1e-9 && other.peak < s.peak - 1e-9)
          << other.schedule->name << " beats " << s.schedule->name;
    }
  }
  EXPECT_GE(fastest, 1);
  EXPECT_GE(smallest, 1);
}

TEST(Comparison, WhatHoldsMoreThanTheLimitDoesNotFit) {
  ComparisonRequest request;
  request.devices = 4;
  request.microbatches = 16;
  request.memory_limit = 5;
  const Comparison c = *compare_schedules(request);
  EXPECT_EQ(row(c, "gpipe").reason, "holds 16");
  EXPECT_TRUE(row(c, "1f1b").fits());
  for (const ComparedSchedule& s : c.schedules) {
    if (s.fits()) {
      EXPECT_LE(s.peak, 5 + 1e-9) << s.schedule->name;
    }
  }
}

TEST(Comparison, NamesTheLeastMemory) {
  ComparisonRequest request;
  request.devices = 4;
  request.microbatches = 16;
  request.memory_limit = 0.5;
  const auto c = compare_schedules(request);
  ASSERT_FALSE(c);
  EXPECT_THAT(c.error().text(), HasSubstr("no schedule holds 0.5 or less"));
  EXPECT_THAT(c.error().text(), HasSubstr("the least is "));
}

}  // namespace
}  // namespace orrery
