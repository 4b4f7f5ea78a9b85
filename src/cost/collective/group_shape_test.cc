#include "cost/collective/group_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace orrery {
namespace {

TEST(GroupShape, Examples) {
  // 16 ranks side by side on nodes of 8; 128 replicas one per node.
  EXPECT_EQ(group_shape(16, 1, {8, 1024}), (GroupShape{16, {8, 16}}));
  EXPECT_EQ(group_shape(128, 8, {8, 1024}), (GroupShape{128, {1, 128}}));
  EXPECT_EQ(group_shape(1, 1, {8, 1024}), (GroupShape{1, {1, 1}}));
}

// Every group that starts at a whole unit: enumerate ranks, count the fullest unit.
TEST(GroupShape, AgreesWithCountingRanks) {
  for (int size = 1; size <= 20; ++size) {
    for (std::int64_t stride = 1; stride <= 20; ++stride) {
      for (std::int64_t domain = 1; domain <= 24; ++domain) {
        std::map<std::int64_t, int> held;
        for (int i = 0; i < size; ++i) ++held[i * stride / domain];
        int fullest = 0;
        for (const auto& [unit, count] : held) fullest = std::max(fullest, count);
        const GroupShape shape = group_shape(size, stride, {domain});
        ASSERT_EQ(shape.members[0], fullest)
            << "size " << size << " stride " << stride << " domain " << domain;
      }
    }
  }
}

}  // namespace
}  // namespace orrery
