#include "cost/collective/in_switch.h"

#include <gtest/gtest.h>

#include "cost/collective/collective_test_platform.h"
#include "cost/collective/never.h"

namespace orrery {
namespace {

using namespace collective_test;

TEST(InSwitch, AnAllReduceSendsOncePlusItsPart) {
  CollectiveParameters p = parameters("hopper");
  p.in_switch.efficiency = 1;
  FabricLevel l = level("nvlink", 100, 0);
  l.in_switch_reduction = true;
  const CommunicationPath path = communication_path({8, {8}}, {l}, p);
  const auto time = [&](CollectiveKind kind, double n) {
    return in_switch_time(kind, Bytes(n), path, Protocol::simple, p);
  };
  const CollectiveKind reduce = CollectiveKind::all_reduce;
  EXPECT_NEAR((time(reduce, 4e9) - time(reduce, 2e9)).value(), 2e9 * (1 + 1.0 / 8) / 100e9, 1e-12);
  const CollectiveKind gather = CollectiveKind::all_gather;
  EXPECT_NEAR((time(gather, 2e9) - time(gather, 1e9)).value(), 1e9 / 100e9, 1e-12);
}

// The first chunks pass both stages before the others follow: 16 channels, 8 ranks, 128 KiB.
TEST(InSwitch, ChunksInFlightPassEveryStage) {
  CollectiveParameters p = parameters("hopper");
  p.in_switch.efficiency = 1;
  p.in_switch.step = Seconds(0);
  FabricLevel l = level("nvlink", 100, 0);
  l.in_switch_reduction = true;
  const CommunicationPath path = communication_path({8, {8}}, {l}, p);
  const auto time = [&](double n) {
    return in_switch_time(CollectiveKind::all_reduce, Bytes(n), path, Protocol::simple, p).value();
  };
  const double rate = 100e9 * 8 / 9;
  const double in_flight = 16.0 * 8 * 128 * 1024;
  EXPECT_NEAR(time(4e9), (4e9 + in_flight) / rate, 1e-12);
  EXPECT_NEAR(time(1e6), 2 * 1e6 / rate, 1e-12);  // all of it is
  double before = 0;
  for (double n = 1; n < 1e11; n *= 1.05) {
    EXPECT_GE(time(n), before) << n;
    before = time(n);
  }
}

TEST(InSwitch, NeedsASwitchThatReduces) {
  const CollectiveParameters p = parameters("hopper");
  const CommunicationPath path = communication_path({8, {8}}, {level("nvlink", 100, 0)}, p);
  EXPECT_EQ(in_switch_time(CollectiveKind::all_reduce, Bytes(1), path, Protocol::simple, p),
            kNever);
}

TEST(InSwitch, TwoNodesExchangeAndMoreRelay) {
  const CollectiveParameters p = parameters("hopper");
  FabricLevel l = level("nvlink", 1e5, 0);
  l.in_switch_reduction = true;
  const auto slope = [&](int nodes) {
    const CommunicationPath path =
        communication_path({8 * nodes, {8, 8 * nodes}}, {l, level("infiniband", 10, 0)}, p);
    const auto time = [&](double n) {
      return in_switch_time(CollectiveKind::all_reduce, Bytes(n), path, Protocol::simple, p);
    };
    return (time(3e9) - time(2e9)).value();
  };
  EXPECT_NEAR(slope(2), 1e9 / 80e9, 1e-9);      // n over the node's 8 cards
  EXPECT_NEAR(slope(4), 2 * 1e9 / 80e9, 1e-9);  // up and down again
}

// A library has at most 32 heads in one switch: a rack of 64 ranks reduces in its own switch, two
// racks do not.
TEST(InSwitch, DoesNotJoinDomainsOfMoreThan32Ranks) {
  const CollectiveParameters p = parameters("blackwell");
  FabricLevel rack = level("nvlink-5", 900, 1);
  rack.in_switch_reduction = true;
  const std::vector<FabricLevel> levels = {rack, level("infiniband", 50, 1)};
  const auto reduces = [&](int own, int ranks) {
    return communication_path({ranks, {own, ranks}}, levels, p).reduces_in_switch;
  };
  EXPECT_TRUE(reduces(64, 64));
  EXPECT_TRUE(reduces(32, 64));
  EXPECT_FALSE(reduces(33, 66));
  EXPECT_FALSE(reduces(64, 128));
}

}  // namespace
}  // namespace orrery
