#include "cost/collective/interference.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Interference, IsTheShareOfUnitsHeld) {
  CollectiveParameters p;
  p.interference = {16, 20};
  EXPECT_DOUBLE_EQ(compute_share_lost(p, 132, CollectiveReach::scale_up), 16.0 / 132);
  // DeepSeek-V3: 20 of 132 multiprocessors.
  EXPECT_DOUBLE_EQ(compute_share_lost(p, 132, CollectiveReach::scale_out), 20.0 / 132);
  EXPECT_DOUBLE_EQ(compute_share_lost(p, 132), 20.0 / 132);
}

TEST(Interference, NeverTakesTheWholeAccelerator) {
  CollectiveParameters p;
  p.interference = {16, 20};
  for (int units = 1; units < 40; ++units) {
    EXPECT_LT(compute_share_lost(p, units), 1);
    EXPECT_GE(compute_share_lost(p, units), 0);
  }
}

TEST(Interference, MemoryTrafficIsReadsAndWrites) {
  EXPECT_DOUBLE_EQ(
      memory_share_lost(CollectiveKind::all_gather, BytesPerSecond(300e9), BytesPerSecond(3e12)),
      0.2);
  EXPECT_DOUBLE_EQ(
      memory_share_lost(CollectiveKind::all_reduce, BytesPerSecond(300e9), BytesPerSecond(3e12)),
      0.3);
  EXPECT_DOUBLE_EQ(
      memory_share_lost(CollectiveKind::all_reduce, BytesPerSecond(9e12), BytesPerSecond(3e12)), 1);
}

}  // namespace
}  // namespace orrery
