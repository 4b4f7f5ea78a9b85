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

// One unit of m = p: what the two directions lose is the closed form of arXiv 2107.06925 and
// 2410.19367 for B + W = 2 F; a wave of arXiv 2308.15762 loses 2(p-1) backwards of a chunk.
TEST(Comparison, ClosedFormsOfOneUnit) {
  for (const int p : {4, 8}) {
    const Comparison c = compared(p, p);
    EXPECT_NEAR(row(c, "chimera").idle, 2.0 * (p - 2), 1e-9);
    EXPECT_EQ(row(c, "chimera").weights, 2);
    EXPECT_NEAR(row(c, "chimera").peak_lowest, p / 2.0 + 1, 1e-9);
    EXPECT_NEAR(row(c, "chimera").peak, p, 1e-9);
    EXPECT_NEAR(row(c, "bitpipe").idle, p - 2.0, 1e-9);
    EXPECT_EQ(row(c, "bitpipe").weights, 2);
    EXPECT_EQ(row(c, "bitpipe").sends, 2);
    EXPECT_NEAR(row(c, "hanayo", 2).idle, 2.0 * (p - 1), 1e-9);
  }
}

// Whatever the stages and whoever serves them, the devices do the work of the whole model.
TEST(Comparison, EveryScheduleRunsTheWholeModel) {
  const int p = 4;
  const int m = 16;
  for (const char* times : {"", "f=1:2:1:3,b=1:2:1:3,w=1:2:1:3"}) {
    const double work = (*times == '\0' ? 12.0 : 21.0) * m;
    const Comparison c = compared(p, m, times);
    for (const ComparedSchedule& s : c.schedules) {
      if (!s.measured || s.schedule->pairs_passes) continue;
      EXPECT_NEAR(p * (s.makespan - s.idle), work, 1e-6) << s.schedule->name << " " << times;
    }
    // Two peers a stage: each holds both their shares.
    EXPECT_EQ(row(c, "swarm").weights, 2);
  }
}

// Vocabulary work not divided among the devices is on the last one: the pipeline waits for it.
TEST(Comparison, VocabularyIsPartOfEveryModel) {
  const Comparison c = compared(4, 16, "f=1,b=1,w=1,s=0.25,t=0.25");
  const Comparison without = compared(4, 16);
  EXPECT_NEAR(row(c, "1f1b").makespan - row(without, "1f1b").makespan, 2.0 * 16, 1e-6);
  for (const ComparedSchedule& s : c.schedules) {
    if (s.fits() && s.schedule->splits_vocabulary) {
      EXPECT_LT(s.makespan, row(c, "1f1b").makespan) << s.schedule->name;
    }
  }
}

TEST(Comparison, FreeCopiesWinNothing) {
  for (const ComparedSchedule& s : compared(4, 16).schedules) {
    if (s.free_copies) {
      EXPECT_FALSE(s.fastest || s.smallest || s.on_front) << s.schedule->name;
    }
  }
  for (const ComparedSchedule& s : compared(4, 16, "offload=1,reload=1").schedules) {
    EXPECT_FALSE(s.free_copies) << s.schedule->name;
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
      if (!other.fits() || other.schedule->asynchronous || other.free_copies) continue;
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
  request.memory_limit = 0.001;
  const auto c = compare_schedules(request);
  ASSERT_FALSE(c);
  EXPECT_THAT(c.error().text(), HasSubstr("no schedule holds 0.001 or less"));
  EXPECT_THAT(c.error().text(), HasSubstr("the least is "));
}

TEST(Comparison, LeavesOutWhatComesAfterAStop) {
  ComparisonRequest request;
  request.devices = 4;
  request.microbatches = 16;
  const std::size_t all = compare_schedules(request)->schedules.size();
  std::size_t asked = 0;
  request.progress = [&](double share, std::string_view) {
    EXPECT_EQ(share, static_cast<double>(asked) / static_cast<double>(all));
    return ++asked < 4;
  };
  const Comparison c = *compare_schedules(request);
  EXPECT_EQ(c.schedules.size(), 3U);
  EXPECT_EQ(c.left_out, all - 3);
  request.progress = [](double, std::string_view) { return false; };
  EXPECT_THAT(compare_schedules(request).error().text(), HasSubstr("stopped after 0 schedules"));
}

}  // namespace
}  // namespace orrery
