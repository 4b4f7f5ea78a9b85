#include "cost/collective/point_to_point.h"

#include <gtest/gtest.h>

#include "cost/collective/collective_test_platform.h"

namespace orrery {
namespace {

using namespace collective_test;

TEST(PointToPoint, IsLatencyAndBandwidthOfItsLevel) {
  const CollectiveParameters p = parameters("nccl-tuner-hopper");
  const FabricLevel network = level("infiniband", 50, 2);
  const Seconds large =
      point_to_point(Bytes(2e9), network, p) - point_to_point(Bytes(1e9), network, p);
  EXPECT_NEAR(large.value(), 1e9 / 50e9, 1e-9);
  // base 6.6 + step 2.7 + 2 us.
  EXPECT_NEAR(microseconds(point_to_point(Bytes(0), network, p)), 11.3, 1e-9);
  // Simple, which waits for the data and for its flag: base 8.4 + step 14 + twice 2 us.
  FabricLevel unordered = network;
  unordered.ordered_delivery = false;
  EXPECT_NEAR(microseconds(point_to_point(Bytes(0), unordered, p)),
              microseconds(p.pairwise.latency.base.simple + p.pairwise.latency.network.simple) + 4,
              1e-9);
}

}  // namespace
}  // namespace orrery
