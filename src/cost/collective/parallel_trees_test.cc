#include "cost/collective/parallel_trees.h"

#include <gtest/gtest.h>

#include <vector>

#include "cost/collective/collective_test_platform.h"
#include "cost/collective/never.h"

namespace orrery {
namespace {

using namespace collective_test;

TEST(ParallelTrees, AreForOneRankANode) {
  const CollectiveParameters p = parameters("hopper");
  const std::vector<FabricLevel> levels = {level("nvlink", 351, 0), level("infiniband", 48, 0)};
  const auto time = [&](const GroupShape& group, double n) {
    return parallel_trees_time(CollectiveKind::all_gather, Bytes(n),
                               communication_path(group, levels, p), Protocol::simple, p);
  };
  EXPECT_EQ(time({16, {8, 16}}, 1e6), kNever);
  // Base 8 us, 2.8 us per rank, 4 levels of 14 us that overlap 3.5 fold.
  EXPECT_NEAR(microseconds(time({16, {1, 16}}, 0)), 8 + 2.8 * 16 + 4 * 14 / 3.5, 1e-9);
}

TEST(ParallelTrees, BeatTheRingForSmallPayloadsOnly) {
  const CollectiveParameters p = parameters("hopper");
  const std::vector<FabricLevel> levels = {level("nvlink", 351, 0), level("infiniband", 48, 2)};
  const GroupShape group{64, {1, 64}};
  EXPECT_EQ(collective(CollectiveKind::all_gather, Bytes(64 * kKi), group, levels, p).algorithm,
            CollectiveAlgorithm::parallel_trees);
  EXPECT_EQ(collective(CollectiveKind::all_gather, Bytes(kGi), group, levels, p).algorithm,
            CollectiveAlgorithm::ring);
}

}  // namespace
}  // namespace orrery
