#include "cost/collective/hierarchical.h"

#include <gtest/gtest.h>

#include "cost/collective/collective_test_platform.h"
#include "cost/collective/ring.h"

namespace orrery {
namespace {

using namespace collective_test;

TEST(Hierarchical, TwoLevelAllReduce) {
  // 1 GiB, 16 nodes of 8, 360 and 48 GB/s, 2 and 8 us: 10730 us.
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  p.ring = {};
  p.ring.nvlink.simple = Seconds(2e-6);
  p.ring.network.simple = Seconds(8e-6);
  const CommunicationPath path =
      communication_path({128, {8, 128}}, {level("nvlink", 360, 0), level("infiniband", 48, 0)}, p);
  EXPECT_NEAR(microseconds(hierarchical_time(CollectiveKind::all_reduce, Bytes(kGi), path,
                                             Protocol::simple, p)),
              10730, 1);
  // A tree between the nodes takes 2 log2(16) steps instead of 2 * 15.
  const Seconds ring =
      hierarchical_time(CollectiveKind::all_reduce, Bytes(kGi), path, Protocol::simple, p);
  const Seconds tree = hierarchical_time(CollectiveKind::all_reduce, Bytes(kGi), path,
                                         Protocol::simple, p, {.outermost = Outermost::tree});
  EXPECT_NEAR(microseconds(ring - tree), 2 * (15 - 4) * 8, 1e-3);
}

TEST(Hierarchical, PipelinedIsNoSlowerThanAFlatRingForLargePayloads) {
  const CollectiveParameters p = parameters("nccl-tuner-hopper");
  for (const int nodes : {2, 4, 16, 128}) {
    for (const double network : {12.0, 25.0, 50.0, 100.0}) {
      const CommunicationPath path =
          communication_path({8 * nodes, {8, 8 * nodes}},
                             {level("nvlink", 360, 0), level("infiniband", network, 0)}, p);
      const Bytes payload(64 * kGi);
      const Seconds flat =
          ring_time(CollectiveKind::all_reduce, payload, path, Protocol::simple, p);
      const Seconds levels =
          hierarchical_time(CollectiveKind::all_reduce, payload, path, Protocol::simple, p,
                            {.phases = Phases::pipelined, .chunks = 512});
      EXPECT_LE(levels.value(), flat.value() * 1.001) << nodes << " nodes, " << network << " GB/s";
    }
  }
}

}  // namespace
}  // namespace orrery
