#include "analyze/rank_timeline.h"

#include <gmock/gmock.h>

#include <numeric>

namespace orrery {
namespace {

TEST(RankTimeline, HasTheSharesOfEveryPart) {
  const DeviceWork work = {.compute = {{0, 30}, {100, 110}},
                           .communication = {{20, 60}},
                           .copies = {{50, 70}},
                           .fills = {}};
  // 240 parts of 1 each, of which 120 are in the window.
  const RankTimeline timeline = rank_timeline(work, {0, 120});
  EXPECT_EQ(timeline.bin_ns, 1);
  ASSERT_EQ(timeline.compute.size(), 120U);
  const auto sum = [](const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0);
  };
  EXPECT_DOUBLE_EQ(sum(timeline.compute), 40);
  EXPECT_DOUBLE_EQ(sum(timeline.exposed_communication), 30);
  EXPECT_DOUBLE_EQ(sum(timeline.exposed_copy), 10);
}

TEST(RankTimeline, KeepsTheTimeWhateverTheWidthOfTheParts) {
  const DeviceWork work = {
      .compute = {{123, 45'678}}, .communication = {}, .copies = {}, .fills = {}};
  const RankTimeline timeline = rank_timeline(work, {0, 99'999});
  EXPECT_LE(timeline.compute.size(), static_cast<std::size_t>(kTimelineBins));
  double ns = 0;
  for (const double share : timeline.compute) {
    EXPECT_LE(share, 1);
    ns += share * static_cast<double>(timeline.bin_ns);
  }
  EXPECT_NEAR(ns, 45'678 - 123, 1e-6);
}

TEST(RankTimeline, OfAnEmptyWindowIsEmpty) {
  EXPECT_TRUE(rank_timeline({}, {5, 5}).compute.empty());
}

}  // namespace
}  // namespace orrery
