#include "cost/collective/interference.h"

#include <gtest/gtest.h>

#include "cost/collective/collective_test_platform.h"

namespace orrery {
namespace {

using namespace collective_test;

const InterferenceParameters kHeld{16, 6, 12, 20};
const InterferedAccelerator kH100{132, BytesPerSecond(3.35e12)};

TEST(Interference, UnitsHeldDependOnWhatRuns) {
  EXPECT_EQ(units_held(kHeld, CollectiveAlgorithm::ring, 1), 16);
  EXPECT_EQ(units_held(kHeld, CollectiveAlgorithm::tree, 1), 16);
  EXPECT_EQ(units_held(kHeld, CollectiveAlgorithm::in_switch, 1), 6);
  EXPECT_EQ(units_held(kHeld, CollectiveAlgorithm::ring, 4), 12);
  EXPECT_EQ(units_held(kHeld, CollectiveAlgorithm::parallel_trees, 4), 12);
  // DeepSeek-V3: 20 of 132 multiprocessors for the exchange of tokens between nodes.
  EXPECT_EQ(units_held(kHeld, CollectiveAlgorithm::pairwise, 4), 20);
  EXPECT_EQ(units_held(kHeld, CollectiveAlgorithm::pairwise, 1), 16);
}

// Counted at one rank: a ring all-gather receives (writes) and sends on (reads) (P-1)/P n; a
// reduce-scatter also reads its own operand; an all-reduce is one after the other.
TEST(Interference, TrafficIsReadsAndWrites) {
  const Bytes n(8e9);
  const auto ring = [&](CollectiveKind kind) {
    return memory_traffic(kind, CollectiveAlgorithm::ring, n, 8).value() / 7e9;
  };
  EXPECT_DOUBLE_EQ(ring(CollectiveKind::all_gather), 2);
  EXPECT_DOUBLE_EQ(ring(CollectiveKind::reduce_scatter), 3);
  EXPECT_DOUBLE_EQ(ring(CollectiveKind::all_reduce), 5);
  // The switch reduces: each rank sends its n and receives the sum.
  EXPECT_DOUBLE_EQ(
      memory_traffic(CollectiveKind::all_reduce, CollectiveAlgorithm::in_switch, n, 8).value(),
      16e9);
  EXPECT_DOUBLE_EQ(
      memory_traffic(CollectiveKind::all_gather, CollectiveAlgorithm::in_switch, n, 8).value(),
      9e9);
}

CommunicationInterference of(CollectiveKind kind, double bytes, const GroupShape& group,
                             bool in_switch) {
  CollectiveParameters p = parameters("hopper");
  p.interference = kHeld;
  std::vector<FabricLevel> levels = {level("nvlink-4", 450, 0.8), level("infiniband-ndr", 50, 1.3)};
  levels[0].in_switch_reduction = in_switch;
  const CollectiveChoice choice = collective(kind, Bytes(bytes), group, levels, p);
  return communication_interference(kind, Bytes(bytes), group, levels, choice, p, kH100);
}

TEST(Interference, TheNetworkTakesFarLessMemoryThanLinksInsideANode) {
  const CommunicationInterference inside =
      of(CollectiveKind::reduce_scatter, kGi, {8, {8, 8}}, false);
  const CommunicationInterference between =
      of(CollectiveKind::reduce_scatter, kGi, {16, {1, 16}}, false);
  EXPECT_DOUBLE_EQ(inside.compute_share, 16.0 / 132);
  EXPECT_DOUBLE_EQ(between.compute_share, 12.0 / 132);
  // 3 B / 3.35 TB/s with B some 350 GB/s and 45 GB/s of bus bandwidth.
  EXPECT_NEAR(inside.memory_share, 0.33, 0.06);
  EXPECT_NEAR(between.memory_share, 0.04, 0.01);
}

TEST(Interference, ReductionInTheSwitchFreesUnits) {
  const CommunicationInterference ring = of(CollectiveKind::all_reduce, kGi, {8, {8, 8}}, false);
  const CommunicationInterference in_switch =
      of(CollectiveKind::all_reduce, kGi, {8, {8, 8}}, true);
  EXPECT_LT(in_switch.compute_share, ring.compute_share);
  EXPECT_LT(in_switch.memory_share, ring.memory_share);
}

TEST(Interference, WhatIsBoundByMemoryLosesMemory) {
  const CommunicationInterference i{0.1, 0.3};
  EXPECT_DOUBLE_EQ(i.share_lost(0), 0.1);
  EXPECT_DOUBLE_EQ(i.share_lost(1), 0.3);
  EXPECT_DOUBLE_EQ(i.share_lost(0.25), 0.15);
}

TEST(Interference, NeverTakesTheWholeAccelerator) {
  CollectiveParameters p = parameters("hopper");
  const std::vector<FabricLevel> levels = {level("nvlink-4", 450, 0.8)};
  const CollectiveChoice choice{Seconds(1e-9), CollectiveAlgorithm::ring, Protocol::simple};
  for (int units = 1; units < 40; ++units) {
    const CommunicationInterference i =
        communication_interference(CollectiveKind::all_reduce, Bytes(kGi), {8, {8}}, levels, choice,
                                   p, {units, BytesPerSecond(1e12)});
    EXPECT_LT(i.compute_share, 1);
    EXPECT_LT(i.memory_share, 1);
  }
  EXPECT_EQ(communication_interference(CollectiveKind::all_reduce, Bytes(kGi), {1, {1}}, levels,
                                       choice, p, kH100),
            CommunicationInterference{});
}

}  // namespace
}  // namespace orrery
