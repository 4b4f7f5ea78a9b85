// NCCL's tuner: published constants, unit checks to the digits printed.
#include "cost/collective/ring.h"

#include <gtest/gtest.h>

#include "cost/collective/collective_test_platform.h"

namespace orrery {
namespace {

using namespace collective_test;

// One node of 8, 12 channels of 30 GB/s.
struct OneNode {
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  CommunicationPath path;
  OneNode() {
    p.channels = 12;
    path = communication_path({8, {8}}, {level("nvlink", 12 * 30, 0)}, p);
  }
  double time(double bytes, Protocol protocol) const {
    return microseconds(ring_time(CollectiveKind::all_reduce, Bytes(bytes), path, protocol, p));
  }
};

TEST(Tuner, RingOnOneNode) {
  const OneNode node;
  // Latency is the time of nothing; bandwidth the slope.
  EXPECT_NEAR(node.time(0, Protocol::low_latency), 15.0, 0.05);
  EXPECT_NEAR(node.time(0, Protocol::low_latency_128), 40.6, 0.05);
  EXPECT_NEAR(node.time(0, Protocol::simple), 56.0, 0.05);
  const auto slope = [&](Protocol protocol) {
    return 1e9 / (node.time(1e9, protocol) - node.time(0, protocol)) / 1e3;
  };
  EXPECT_NEAR(slope(Protocol::low_latency), 80.57, 0.005);
  EXPECT_NEAR(slope(Protocol::low_latency_128), 189.26, 0.005);
  EXPECT_NEAR(slope(Protocol::simple), 205.71, 0.005);
  EXPECT_NEAR(node.time(8 * kKi, Protocol::low_latency), 15.1, 0.05);
  EXPECT_NEAR(node.time(8 * kKi, Protocol::low_latency_128), 40.6, 0.05);
  EXPECT_NEAR(node.time(8 * kKi, Protocol::simple), 56.0, 0.05);
  EXPECT_NEAR(node.time(kMi, Protocol::low_latency), 28.0, 0.05);
  EXPECT_NEAR(node.time(kMi, Protocol::low_latency_128), 46.1, 0.05);
  EXPECT_NEAR(node.time(kMi, Protocol::simple), 61.1, 0.05);
  EXPECT_NEAR(node.time(64 * kMi, Protocol::low_latency), 848, 0.5);
  EXPECT_NEAR(node.time(64 * kMi, Protocol::low_latency_128), 395.2, 0.05);
  EXPECT_NEAR(node.time(64 * kMi, Protocol::simple), 382.2, 0.05);
  const double gibibyte = node.time(kGi, Protocol::simple);
  EXPECT_NEAR(gibibyte, 5275.6, 0.05);
  EXPECT_NEAR(kGi * 2 * 7 / 8 / gibibyte / 1e3, 356, 0.5);  // bus bandwidth, GB/s
}

TEST(Tuner, RingOnFourNodes) {
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  p.channels = 8;
  // 8 channels of 45 GB/s: 360 GB/s per node, 45 of each accelerator's card.
  const CommunicationPath path =
      communication_path({32, {8, 32}}, {level("nvlink", 360, 0), level("infiniband", 45, 0)}, p);
  const auto time = [&](double bytes, Protocol protocol) {
    return microseconds(ring_time(CollectiveKind::all_reduce, Bytes(bytes), path, protocol, p));
  };
  const auto slope = [&](Protocol protocol) {
    return 1e9 / (time(2e9, protocol) - time(1e9, protocol)) / 1e3;
  };
  EXPECT_NEAR(time(0, Protocol::low_latency), 78.8, 0.05);
  EXPECT_NEAR(time(0, Protocol::low_latency_128), 144.4, 0.05);
  EXPECT_NEAR(time(0, Protocol::simple), 282.8, 0.05);
  EXPECT_NEAR(time(64 * 8 * 32, Protocol::simple), 395.9 + 0.09, 0.05);  // with the plateau
  EXPECT_NEAR(slope(Protocol::low_latency), 10.53, 0.005);
  EXPECT_NEAR(slope(Protocol::low_latency_128), 151.54, 0.005);
  EXPECT_NEAR(slope(Protocol::simple), 185.81, 0.005);
  EXPECT_NEAR(time(kMi, Protocol::low_latency), 178.4, 0.05);
  EXPECT_NEAR(time(kMi, Protocol::low_latency_128), 151.3, 0.05);
  EXPECT_NEAR(time(kMi, Protocol::simple), 401.6, 0.06);
  EXPECT_NEAR(time(64 * kMi, Protocol::low_latency), 6452, 0.5);
  EXPECT_NEAR(time(64 * kMi, Protocol::low_latency_128), 587.3, 0.06);
  EXPECT_NEAR(time(64 * kMi, Protocol::simple), 757.1, 0.05);
  EXPECT_NEAR(time(kGi, Protocol::low_latency_128), 7230, 0.5);
  EXPECT_NEAR(time(kGi, Protocol::simple), 6174.7, 0.1);
}

}  // namespace
}  // namespace orrery
