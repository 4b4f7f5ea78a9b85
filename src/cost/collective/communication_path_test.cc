#include "cost/collective/communication_path.h"

#include <gtest/gtest.h>

#include <vector>

#include "cost/collective/collective.h"
#include "cost/collective/collective_test_platform.h"

namespace orrery {
namespace {

using namespace collective_test;

// Walks the ring of an aligned group rank by rank.
TEST(CommunicationPath, HopsAgreeWithWalkingTheRing) {
  const CollectiveParameters p = parameters("nccl-tuner-hopper");
  const std::vector<FabricLevel> levels = {level("nvlink", 400, 0), level("infiniband", 50, 0),
                                           level("spine", 25, 0)};
  for (const std::int64_t stride : {1, 2, 8}) {
    for (const int size : {2, 4, 8, 16, 64, 96, 256}) {
      const std::vector<std::int64_t> domain = {8, 64, 2048};
      std::vector<int> hops(3, 0);
      for (int i = 0; i + 1 < size; ++i) {
        std::size_t l = 0;
        while (i * stride / domain[l] != (i + 1) * stride / domain[l]) ++l;
        ++hops[l];
      }
      const CommunicationPath path =
          communication_path(group_shape(size, stride, domain), levels, p);
      std::vector<int> counted(3, 0);
      for (const Crossing& c : path.crossings()) {
        counted[c.rate > BytesPerSecond(300e9)  ? 0
                : c.rate > BytesPerSecond(40e9) ? 1
                                                : 2] = c.hops;
      }
      EXPECT_EQ(counted, hops) << "size " << size << " stride " << stride;
    }
  }
}

TEST(CommunicationPath, ARingIsAsFastAsItsSlowestCut) {
  const CollectiveParameters p = parameters("nccl-tuner-hopper");
  FabricLevel spine = level("spine", 50, 0);
  spine.oversubscription = 8;
  const std::vector<FabricLevel> levels = {level("nvlink", 400, 0), level("infiniband", 30, 0),
                                           spine};
  // Eight cards of 30 GB/s; 32 ranks a leaf with 50/8 GB/s each; one card alone.
  EXPECT_DOUBLE_EQ(communication_path({16, {8, 16, 16}}, levels, p).ring_rate.value(), 240e9);
  EXPECT_DOUBLE_EQ(communication_path({64, {8, 32, 64}}, levels, p).ring_rate.value(), 200e9);
  EXPECT_DOUBLE_EQ(communication_path({4, {1, 4, 4}}, levels, p).ring_rate.value(), 30e9);
  EXPECT_DOUBLE_EQ(communication_path({8, {8, 8, 8}}, levels, p).ring_rate.value(), 400e9);
}

TEST(CommunicationPath, NamesTellTheKindOfLink) {
  EXPECT_EQ(link_kind(level("nvlink-5", 1, 0), 1), LinkKind::nvlink);
  EXPECT_EQ(link_kind(level("pcie-4-x16", 1, 0), 0), LinkKind::pcie);
  EXPECT_EQ(link_kind(level("ethernet-25g", 1, 0), 0), LinkKind::network);
  EXPECT_EQ(link_kind(level("roce-100g-mesh", 1, 0), 0), LinkKind::nvlink);
  EXPECT_EQ(link_kind(level("roce-400g", 1, 0), 1), LinkKind::network);
  EXPECT_EQ(link_kind(level("my-switch", 1, 0), 0), LinkKind::nvlink);
  EXPECT_EQ(link_kind(level("my-switch", 1, 0), 1), LinkKind::network);
  EXPECT_EQ(link_kind(level("", 1, 0), 1), LinkKind::network);
}

// Pairs on PCIe reach each other directly; more meet in the memory of a socket, or across sockets.
TEST(CommunicationPath, AcceleratorsOnPcieShareThePathThroughTheHost) {
  CollectiveParameters p = parameters("ada");
  p.ring_share = 1;
  p.host_path = {2, 4, BytesPerSecond(5e9), BytesPerSecond(2e9)};
  FabricLevel pcie = level("pcie-4-x16", 32, 1);
  pcie.accelerators = 8;
  const auto rate = [&](int members) {
    return communication_path({members, {members}}, {pcie}, p).ring_rate.value();
  };
  EXPECT_DOUBLE_EQ(rate(2), 32e9);
  EXPECT_DOUBLE_EQ(rate(4), 5e9);
  EXPECT_DOUBLE_EQ(rate(8), 2e9);
  pcie.bandwidth = BytesPerSecond(1e9);  // never faster than the link itself
  EXPECT_DOUBLE_EQ(rate(8), 1e9);
  p.host_path = {};
  pcie.bandwidth = BytesPerSecond(32e9);
  EXPECT_DOUBLE_EQ(rate(8), 32e9);
}

TEST(Overlapped, LiesBetweenTheGreaterAndTheSum) {
  const Seconds a(3e-6);
  const Seconds b(4e-6);
  EXPECT_EQ(overlapped(a, b, 1), a + b);
  EXPECT_NEAR(overlapped(a, b, 2).value(), 5e-6, 1e-18);  // 3, 4, 5
  EXPECT_NEAR(overlapped(a, b, 60).value(), 4e-6, 1e-12);
  EXPECT_EQ(overlapped(Seconds(0), b, 2), b);
  EXPECT_EQ(overlapped(Seconds(0), Seconds(0), 3), Seconds(0));
  Seconds last;
  for (double bytes = 0; bytes < 1e-3; bytes += 1e-5) {
    const Seconds now = overlapped(a, Seconds(bytes), 2);
    EXPECT_GE(now, last);
    last = now;
  }
}

// Past the limit only Simple is left, and no payload gets cheaper for being larger.
TEST(LowLatency, IsLeftBehindAtAPartOfThatSize) {
  CollectiveParameters p = parameters("blackwell");
  constexpr CollectiveKind kReduce = CollectiveKind::all_reduce;
  p.low_latency_until = Bytes(kMi);
  FabricLevel nvlink = level("nvlink-5", 900, 1);
  const GroupShape group{4, {4}};
  const CommunicationPath path = communication_path(group, {nvlink}, p);
  EXPECT_TRUE(low_latency_allowed(kReduce, Bytes(4 * kMi), path, p));
  EXPECT_FALSE(low_latency_allowed(kReduce, Bytes(4 * kMi + 1), path, p));
  EXPECT_EQ(collective(CollectiveKind::all_reduce, Bytes(5 * kMi), group, {nvlink}, p).protocol,
            Protocol::simple);
  EXPECT_LT(collective(CollectiveKind::all_reduce, Bytes(4 * kMi), group, {nvlink}, p).time,
            collective(CollectiveKind::all_reduce, Bytes(4 * kMi + 1), group, {nvlink}, p).time);
  p.low_latency_until = Bytes(0);
  EXPECT_TRUE(low_latency_allowed(kReduce, Bytes(kGi), path, p));
}

// Between nodes that reduce in their switches, an all-reduce leaves the low-latency protocols
// earlier; other collectives, and nodes that do not reduce, keep them.
TEST(LowLatency, IsLeftBehindEarlierWhereSwitchesOfSeveralNodesReduce) {
  const CollectiveParameters p = parameters("hopper");
  ASSERT_EQ(p.in_switch.low_latency_until, Bytes(kMi));
  FabricLevel nvlink = level("nvlink-4", 450, 1);
  const auto allowed = [&](CollectiveKind kind, int nodes, double bytes) {
    const std::vector<FabricLevel> levels = {nvlink, level("infiniband", 50, 1)};
    const CommunicationPath path = communication_path({8 * nodes, {8, 8 * nodes}}, levels, p);
    return low_latency_allowed(kind, Bytes(bytes), path, p);
  };
  EXPECT_TRUE(allowed(CollectiveKind::all_reduce, 2, 2 * kMi));
  nvlink.in_switch_reduction = true;
  EXPECT_FALSE(allowed(CollectiveKind::all_reduce, 2, 2 * kMi));
  EXPECT_TRUE(allowed(CollectiveKind::all_reduce, 2, kMi));
  EXPECT_TRUE(allowed(CollectiveKind::all_reduce, 1, 2 * kMi));
  EXPECT_TRUE(allowed(CollectiveKind::all_gather, 2, 2 * kMi));
}

}  // namespace
}  // namespace orrery
