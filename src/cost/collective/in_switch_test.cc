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
  EXPECT_NEAR((time(reduce, 2e9) - time(reduce, 1e9)).value(), 1e9 * (1 + 1.0 / 8) / 100e9, 1e-12);
  const CollectiveKind gather = CollectiveKind::all_gather;
  EXPECT_NEAR((time(gather, 2e9) - time(gather, 1e9)).value(), 1e9 / 100e9, 1e-12);
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
    return (time(2e9) - time(1e9)).value();
  };
  EXPECT_NEAR(slope(2), 1e9 / 80e9, 1e-9);      // n over the node's 8 cards
  EXPECT_NEAR(slope(4), 2 * 1e9 / 80e9, 1e-9);  // up and down again
}

}  // namespace
}  // namespace orrery
