#include "cost/collective/communication_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace orrery
