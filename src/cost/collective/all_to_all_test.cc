#include "cost/collective/all_to_all.h"

#include <gtest/gtest.h>

#include <vector>

#include "cost/collective/collective_test_platform.h"

namespace orrery {
namespace {

using namespace collective_test;

TEST(AllToAll, CountsOnlyTheBytesThatCross) {
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  p.pairwise.efficiency = 1;
  const std::vector<FabricLevel> levels = {level("nvlink", 300, 0), level("infiniband", 50, 0)};
  const CommunicationPath path = communication_path({64, {8, 64}}, levels, p);
  const auto time = [&](double n) {
    return all_to_all_time(CollectiveKind::all_to_all, Bytes(n), path, Protocol::simple, p);
  };
  // 56 of 64 parts leave the node at 50 GB/s.
  EXPECT_NEAR((time(2e9) - time(1e9)).value(), 1e9 * 56 / 64 / 50e9, 1e-9);
}

// Enumerates who sends what to whom.
TEST(AllToAll, BytesOverEachLevelAgreeWithCountingPairs) {
  const CollectiveParameters p = parameters("nccl-tuner-hopper");
  for (const int node_ranks : {1, 2, 4, 8}) {
    for (const int nodes : {2, 3, 8}) {
      const int ranks = node_ranks * nodes;
      int outside = 0;  // peers of rank 0 in other nodes
      for (int peer = 0; peer < ranks; ++peer) outside += peer / node_ranks != 0 ? 1 : 0;
      const CommunicationPath path = communication_path(
          {ranks, {node_ranks, ranks}}, {level("nvlink", 1e6, 0), level("infiniband", 50, 0)}, p);
      const auto time = [&](double n) {
        return all_to_all_time(CollectiveKind::all_to_all, Bytes(n), path, Protocol::simple, p);
      };
      EXPECT_NEAR((time(2e9) - time(1e9)).value(), 1e9 * outside / ranks / 50e9, 1e-6);
    }
  }
}

TEST(AllToAll, ManyRanksAggregateByNodeWhenMessagesAreSmall) {
  // 512 ranks: 63 messages of a node each instead of 504 of a rank.
  const CollectiveParameters p = parameters("hopper");
  const CommunicationPath path =
      communication_path({512, {8, 512}}, {level("nvlink", 351, 0), level("infiniband", 48, 0)}, p);
  const Seconds time =
      all_to_all_time(CollectiveKind::all_to_all, Bytes(kKi), path, Protocol::low_latency, p);
  EXPECT_LT(time, p.network_overhead * 504.0);
  EXPECT_GT(time, p.network_overhead * 63.0);
}

}  // namespace
}  // namespace orrery
