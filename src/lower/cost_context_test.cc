// What a cost context says it borrows.
#include "lower/cost_context.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

std::vector<std::string> assumed(const char* cluster) {
  return cost_context(*parse_cluster(cluster, Catalog::built_in()), Catalog::built_in())->assumed;
}

TEST(CostContext, SaysHowPcieCardsAreTakenToMeet) {
  EXPECT_THAT(assumed("l40s:8"),
              testing::Contains(
                  "all l40s of a node reach each other at the rate of PCIe; where they meet in the "
                  "memory of the host they do not (6.57 GB/s each of 4, 1.65 GB/s of more, on one "
                  "measured server): state `host_path` in a cluster file (docs/clusters.md)"));
  const auto says = testing::Contains(testing::HasSubstr("memory of the host"));
  EXPECT_THAT(assumed("l40s:4"), says);
  EXPECT_THAT(assumed("l40s:2"), testing::Not(says));  // reach each other directly
  EXPECT_THAT(assumed("h100-sxm:8"), testing::Not(says));
}

// A server whose cards share one switch is as fast as its links, and nothing is borrowed.
TEST(CostContext, TakesTheHostPathThatTheClusterStates) {
  const auto eight = [](const char* path) {
    const auto document = parse_yaml(
        std::string("{name: c, accelerator: l40s, accelerators: 8") + path + "}", "c.yaml");
    return *cost_context(*read_cluster(*document, Catalog::built_in()), Catalog::built_in());
  };
  const auto gather = [](const CostContext& context) {
    return context.communicate(CollectiveKind::all_gather, Bytes(1e9), {8, {8}}).value();
  };
  const CostContext unstated = eight("");
  const CostContext one_switch = eight(", host_path: {direct_ranks: 0}");
  EXPECT_THAT(one_switch.assumed,
              testing::Not(testing::Contains(testing::HasSubstr("memory of the host"))));
  EXPECT_EQ(gather(one_switch), gather(unstated));
  // 7/8 of 1 GB at 1.65 GB/s, against PCIe 4 at 32 GB/s nominal.
  const CostContext measured =
      eight(", host_path: {direct_ranks: 2, socket_ranks: 4, socket: 6.57 GB/s, node: 1.65 GB/s}");
  EXPECT_GT(gather(measured), 0.5);
  EXPECT_LT(gather(one_switch), 0.1);

  const CostContext slow =
      eight(", host_path: {direct_ranks: 2, socket_ranks: 4, socket: 4 GB/s, node: 0.825 GB/s}");
  EXPECT_NEAR(gather(slow) / gather(measured), 2, 0.1);
}

}  // namespace
}  // namespace orrery
