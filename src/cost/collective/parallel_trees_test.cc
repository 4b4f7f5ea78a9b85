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

// Between two halves of P ranks go (log2(P / 2) + 1) / 2 times the bytes of a ring, so that a
// narrow link between them takes so much longer; where it has room for that, the single rank
// counts.
TEST(ParallelTrees, CrossANarrowLinkMoreOftenThanARing) {
  const CollectiveParameters p = parameters("hopper");
  const GroupShape group{64, {1, 32, 64}};
  const auto transfer = [&](double between) {
    const std::vector<FabricLevel> levels = {level("nvlink", 351, 0), level("infiniband", 48, 0),
                                             level("wide-area", between, 0)};
    const CommunicationPath path = communication_path(group, levels, p);
    const auto time = [&](double n) {
      return parallel_trees_time(CollectiveKind::all_gather, Bytes(n), path, Protocol::simple, p);
    };
    return (time(2e9) - time(1e9)).value() - 1e9 / 64 / p.local_copy.value();
  };
  const double ring = 63.0 / 64 * 1e9 / 48e9;
  EXPECT_NEAR(transfer(48) / (ring / 0.75), 1, 1e-9);
  const double cut = 1e9 / (1.5e9 * 32);  // 1.5 GB/s of each of the 32 ranks of a half
  EXPECT_NEAR(transfer(1.5) / (cut * (5 + 1) / 2 / 0.75), 1, 1e-9);
}

// Of 6 ranks in two halves, three send 3 parts one further, of which one leaves its half; two leave
// it two further, and two four further, where the others wrap round into their own half.
TEST(ParallelTrees, WrapRoundIntoTheirOwnHalf) {
  const CollectiveParameters p = parameters("hopper");
  const std::vector<FabricLevel> levels = {level("nvlink", 351, 0), level("infiniband", 48, 0),
                                           level("wide-area", 1.5, 0)};
  const CommunicationPath path = communication_path({6, {1, 3, 6}}, levels, p);
  const auto time = [&](double n) {
    return parallel_trees_time(CollectiveKind::all_gather, Bytes(n), path, Protocol::simple, p);
  };
  const double transfer = (time(2e9) - time(1e9)).value() - 1e9 / 6 / p.local_copy.value();
  EXPECT_NEAR(transfer / (1e9 / 6 * (3 + 2 + 2) / (1.5e9 * 3 * 0.75)), 1, 1e-9);
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
