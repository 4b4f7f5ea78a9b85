#include "analyze/device_lag.h"

#include <gmock/gmock.h>

#include "trace/hand_made_trace.h"

namespace orrery {
namespace {

// The host launches two kernels of 100 ns in every step of 100 ns: the device falls behind.
TEST(DeviceLag, GrowsWhereTheHostIsFaster) {
  HandMadeTrace made;
  std::vector<Interval> steps;
  for (int s = 0; s < 3; ++s) {
    const std::int64_t start = std::int64_t{100} * s;
    steps.push_back({start, start + 100});
    made.step(s, start, start + 100);
    for (int k = 0; k < 2; ++k) {
      const int id = 2 * s + k + 1;
      const std::int64_t at = start + 10 + std::int64_t{10} * k;
      made.call(at, at + 5, id);
      const std::int64_t end = 20 + std::int64_t{100} * id;
      made.kernel("gemm", 7, end - 100, end, id);
    }
  }
  const auto lags = device_lags(made.trace, launch_links(made.trace), steps);
  ASSERT_EQ(lags.size(), 3U);
  EXPECT_EQ(lags[0].busy_ns, 80);
  EXPECT_EQ(lags[0].earlier_ns, 0);
  EXPECT_EQ(lags[0].behind_ns, 120);
  EXPECT_EQ(lags[1].earlier_ns, 100);
  EXPECT_EQ(lags[1].behind_ns, 220);
  EXPECT_EQ(lags[2].earlier_ns, 100);
  EXPECT_EQ(lags[2].behind_ns, 320);
}

TEST(DeviceLag, TakesWorkWithoutACallForEarlierOnlyInFrontOfItsStream) {
  HandMadeTrace made;
  made.step(1, 0, 100);
  made.call(20, 25, 1);
  made.kernel("before", 7, 0, 30, kNotRecorded);
  made.kernel("own", 7, 30, 50, 1);
  made.kernel("lost", 7, 60, 80, kNotRecorded);
  const std::vector<Interval> steps = {{0, 100}};
  const auto lags = device_lags(made.trace, launch_links(made.trace), steps);
  EXPECT_EQ(lags.at(0).busy_ns, 50);
  EXPECT_EQ(lags.at(0).earlier_ns, 30);
  EXPECT_EQ(lags.at(0).behind_ns, 0);
}

// Chakra traces and profilers of the device alone hold no launches.
TEST(DeviceLag, IsNotKnownWithoutLaunches) {
  HandMadeTrace made;
  made.step(1, 0, 100);
  made.kernel("gemm", 7, 0, 60, kNotRecorded);
  made.kernel("gemm", 7, 60, 90, 4);  // the call is not in the recording
  const std::vector<Interval> steps = {{0, 100}};
  const auto lags = device_lags(made.trace, launch_links(made.trace), steps);
  EXPECT_FALSE(lags.at(0).known);
  EXPECT_EQ(lags.at(0).earlier_ns, 0);
  EXPECT_EQ(lags.at(0).behind_ns, 0);
}

TEST(DeviceLag, LeavesStreamsOutWhoseLaunchesAreNotRecorded) {
  HandMadeTrace made;
  made.step(1, 0, 100);
  made.call(10, 15, 1);
  made.kernel("own", 7, 20, 50, 1);
  made.kernel("nobody knows", 9, 30, 90, kNotRecorded);
  const std::vector<Interval> steps = {{0, 100}};
  const auto lags = device_lags(made.trace, launch_links(made.trace), steps);
  EXPECT_TRUE(lags.at(0).known);
  EXPECT_EQ(lags.at(0).busy_ns, 30);
  EXPECT_EQ(lags.at(0).earlier_ns, 0);
}

}  // namespace
}  // namespace orrery
