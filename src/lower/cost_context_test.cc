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

// 906 MB over one rank of each of 256 nodes, on RoCE whose efficiency is stated as 1. Measured steps
// reached 0.64 of such networks (catalog/step), and 510 ring steps wait for two messages each.
TEST(CostContext, SaysWhatTrainingReachesOfANetworkStatedAsPerfect) {
  const auto document = parse_yaml(
      "{name: c, node: dgx-a100, accelerators: 2048, "
      "levels: [{name: net, accelerators: 2048, fabric: roce-200g, efficiency: 1}]}",
      "c.yaml");
  const Cluster cluster = *read_cluster(*document, Catalog::built_in());
  const Bytes payload(906e6);
  const GroupShape group{256, {1, 256}};
  const auto bus_bandwidth = [&](const CostContext& context) {
    const Seconds time = context.communicate(CollectiveKind::all_reduce, payload, group);
    return 2.0 * 255 / 256 * (payload / time).value() / 1e9;
  };
  const CostContext in_a_step = *cost_context(cluster, Catalog::built_in());
  EXPECT_NEAR(bus_bandwidth(in_a_step), 14.2, 0.05);
  EXPECT_THAT(in_a_step.assumed,
              testing::Contains(testing::HasSubstr("collectives over roce reach 64 %")));
  TrainingConditions perfect = *load_training_conditions(Catalog::built_in());
  for (NetworkConditions& network : perfect.networks) network.share = 1;
  const CostContext alone = *cost_context(cluster, Catalog::built_in(), perfect);
  EXPECT_NEAR(bus_bandwidth(alone), 20.7, 0.05);
}

}  // namespace
}  // namespace orrery
