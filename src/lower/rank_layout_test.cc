// Where groups lie, against counting ranks one by one.
#include "lower/rank_layout.h"

#include <gtest/gtest.h>

#include <map>

#include "plan/plan.h"

namespace orrery {
namespace {

Cluster cluster(const char* text) { return *parse_cluster(text, Catalog::built_in()); }

TEST(RankLayout, TensorParallelStaysInTheNodeAndReplicasLeaveIt) {
  Plan plan = *parse_plan("tp=8,pp=16,dp=128");
  const RankLayout layout = rank_layout(plan, cluster("h100-sxm:16384"));
  EXPECT_EQ(layout.tp.members, (std::vector<int>{8, 8}));
  EXPECT_EQ(layout.dense_shard.size, 128);
  EXPECT_EQ(layout.dense_shard.members, (std::vector<int>{1, 128}));
  EXPECT_EQ(layout.world.size, 16384);
  EXPECT_EQ(layout.boundary_level, std::vector<std::size_t>(16, 1));
}

// Counted rank by rank: of the accelerators of a site, those whose next stage lies in another site.
TEST(RankLayout, OnlyTheRanksOfOneStageCrossBetweenSites) {
  const Cluster sites = cluster("h100-sxm:64+h100-sxm:64@metro-pair");
  for (const char* text :
       {"tp=8,pp=4,dp=4,placement=tp+cp+dp+pp", "tp=4,pp=8,dp=4,placement=tp+cp+dp+pp",
        "tp=8,pp=2,dp=8,placement=tp+cp+dp+pp"}) {
    const Plan plan = *parse_plan(text);
    const RankLayout layout = rank_layout(plan, sites);
    const std::int64_t stride = plan.tp * plan.dp;
    const std::int64_t boundary = plan.pp / 2 - 1;  // from the last stage of the first site
    std::int64_t crossing = 0;
    for (std::int64_t rank = 0; rank < 64; ++rank) crossing += (rank + stride) / 64 != 0 ? 1 : 0;
    EXPECT_EQ(layout.boundary_level[static_cast<std::size_t>(boundary)], 2U);
    EXPECT_DOUBLE_EQ(layout.boundary_crossing[static_cast<std::size_t>(boundary)],
                     static_cast<double>(crossing) / 64)
        << text;
  }
}

TEST(RankLayout, PlacementMovesAnAxisInwards) {
  Plan plan = *parse_plan("tp=2,pp=4,dp=8,placement=tp+cp+pp+dp");
  const RankLayout layout = rank_layout(plan, cluster("h100-sxm:64"));
  EXPECT_EQ(layout.boundary_level, std::vector<std::size_t>(4, 0));  // all stages in one node
  EXPECT_EQ(layout.dense_shard.members, (std::vector<int>{1, 8}));
  plan.placement = {MeshAxis::tp, MeshAxis::cp, MeshAxis::dp, MeshAxis::pp};
  const RankLayout outside = rank_layout(plan, cluster("h100-sxm:64"));
  EXPECT_EQ(outside.dense_shard.members, (std::vector<int>{4, 8}));
}

TEST(RankLayout, ReplicasOfADenseParameterSpanContextAndData) {
  const Plan plan = *parse_plan("tp=2,cp=4,dp=4");
  const RankLayout layout = rank_layout(plan, cluster("h100-sxm:32"));
  EXPECT_EQ(layout.cp.members, (std::vector<int>{4, 4}));
  EXPECT_EQ(layout.dense_shard.size, 16);
  EXPECT_EQ(layout.dense_shard.members, (std::vector<int>{4, 16}));
}

TEST(RankLayout, HybridShardingSplitsTheReplicas) {
  const Plan plan = *parse_plan("dp=64,zero=3,shard_group=8");
  const RankLayout layout = rank_layout(plan, cluster("h100-sxm:64"));
  EXPECT_EQ(layout.dense_shard.members, (std::vector<int>{8, 8}));
  EXPECT_EQ(layout.dense_outer.members, (std::vector<int>{1, 8}));
}

// Experts are laid over the ranks of tp, cp and dp: counted rank by rank.
TEST(RankLayout, ExpertGroupsByCounting) {
  for (const auto& [ep, inside] : std::map<int, int>{{2, 2}, {8, 8}, {16, 8}, {32, 8}}) {
    Plan plan = *parse_plan("tp=4,dp=8,etp=1");
    plan.ep = ep;
    const RankLayout layout = rank_layout(plan, cluster("h100-sxm:32"));
    EXPECT_EQ(layout.ep.size, ep);
    EXPECT_EQ(layout.ep.members, (std::vector<int>{inside, ep}));
    EXPECT_EQ(layout.expert_shard.size * ep, 32);
  }
}

TEST(RankLayout, MirroredStagesPairTheDevicesOfAPipelineFromBothEnds) {
  const Plan plan = *parse_plan("tp=2,pp=4,dp=1");
  const RankLayout layout = rank_layout(plan, cluster("h100-sxm:8"));
  const auto mirrored = [&](std::int64_t rank) {
    return members(layout, StepGroup::mirrored_stages, rank);
  };
  EXPECT_EQ(mirrored(1), (std::vector<std::int64_t>{1, 7}));
  EXPECT_EQ(mirrored(2), (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(mirrored(4), mirrored(2));
  EXPECT_EQ(layout.groups[index(StepGroup::mirrored_stages).value()].shape, layout.end_stages);
}

}  // namespace
}  // namespace orrery
