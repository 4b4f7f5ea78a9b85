// Bytes of a step against the volumes that the field counts by hand.
#include "estimate/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "cluster/told_apart.h"
#include "estimate/built_in_scenario.h"

namespace orrery {
namespace {

constexpr const char* kSites = "h100-sxm:64+h100-sxm:64@metro-pair";

StepTraffic traffic_of(std::string_view plan) {
  auto step = predict(scenario("llama-3-8b", kSites, plan, 8192, 64), catalog());
  EXPECT_TRUE(step) << step.error().text();
  auto out = traffic(*step);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

const AxisTraffic& axis(const StepTraffic& t, std::string_view name) {
  return *std::ranges::find(t.axes, name, &AxisTraffic::axis);
}

// 2 M b s h bytes / (t p) of a GPU on average cross one cut: activations of one stage forward,
// gradients of another back, in bf16, sequence-parallel.
TEST(Traffic, OfAPipelineAcrossSitesIsItsBoundary) {
  const StepTraffic t = traffic_of("tp=8,pp=4,dp=4,placement=tp+cp+dp+pp");
  const double microbatches = 64.0 / 4;
  const double boundary = microbatches * 8192 * 4096 * 2 / 8;
  EXPECT_DOUBLE_EQ(axis(t, "pipeline").by_level[2].value(), 2 * boundary / 4);
  // Three boundaries leave the node and the site's network, one of them the site.
  EXPECT_DOUBLE_EQ(axis(t, "pipeline").by_level[1].value(), 3 * 2 * boundary / 4);
  EXPECT_EQ(axis(t, "replicas").by_level[2], Bytes(0));
}

// Reduce-scatter and all-gather of a gradient of which each GPU holds 1 / (t p): between 2 sites
// half of it crosses each way, spread over the d / 2 replicas of a site.
TEST(Traffic, OfReplicasAcrossSitesIsTheirGradientOnce) {
  const StepTraffic t = traffic_of("tp=8,pp=1,dp=16,zero=1");
  const double gradient = axis(t, "replicas").by_level[0].value() / (15.0 / 16);
  EXPECT_NEAR(axis(t, "replicas").by_level[2].value(), gradient / 2 / 8, 1e-6 * gradient);
  EXPECT_GT(gradient, 2 * 8e9 / 8 * 2);  // of 8 billion parameters, 2 bytes each way at least
}

// What is under way at any moment adds up to what is sent in the step.
TEST(Traffic, OverTimeAddsUpToTheStep) {
  for (const char* plan : {"tp=8,pp=4,dp=4,placement=tp+cp+dp+pp", "tp=8,pp=1,dp=16,zero=3"}) {
    const auto step = predict(scenario("llama-3-8b", kSites, plan, 8192, 64), catalog());
    ASSERT_TRUE(step) << step.error().text();
    const StepTraffic t = *traffic(*step);
    for (const LevelTraffic& level : t.levels) {
      ASSERT_EQ(level.over_time.size(), kTrafficParts);
      double sum = 0;
      for (const double use : level.over_time) {
        EXPECT_GE(use, 0);
        sum += use;
      }
      // The norm of the gradients, 4 bytes of all devices at once, is one node of the graph.
      EXPECT_NEAR(sum / static_cast<double>(kTrafficParts), level.use, 1e-6) << level.level;
    }
  }
}

// Equal sites that are told apart send what they send as one.
TEST(Traffic, OfSitesThatDifferIsCountedAtEach) {
  for (const char* plan : {"tp=8,pp=4,dp=4,placement=tp+cp+dp+pp", "tp=8,pp=1,dp=16,zero=1"}) {
    Scenario apart = scenario("llama-3-8b", kSites, plan, 8192, 64);
    apart.cluster = told_apart(apart.cluster);
    const auto step = predict(apart, catalog());
    ASSERT_TRUE(step) << step.error().text();
    const auto sent = traffic(*step);
    ASSERT_TRUE(sent) << sent.error().text();
    const StepTraffic even = traffic_of(plan);
    ASSERT_EQ(sent->levels.size(), even.levels.size());
    for (std::size_t l = 0; l < even.levels.size(); ++l) {
      EXPECT_EQ(sent->levels[l].level, even.levels[l].level);
      EXPECT_NEAR(sent->levels[l].bytes / even.levels[l].bytes, 1, 1e-12) << plan;
      EXPECT_NEAR(sent->levels[l].use / even.levels[l].use, 1, 1e-9) << plan;
    }
  }
}

TEST(Traffic, NeverGrowsOutwards) {
  for (const char* plan :
       {"tp=8,pp=4,dp=4", "tp=2,cp=4,dp=16", "tp=4,pp=2,dp=16,zero=3,shard_group=8"}) {
    const StepTraffic t = traffic_of(plan);
    for (const AxisTraffic& a : t.axes) {
      EXPECT_TRUE(std::ranges::is_sorted(a.by_level, std::greater<>())) << plan << " " << a.axis;
    }
    EXPECT_GT(t.levels.back().use, 0);
  }
}

}  // namespace
}  // namespace orrery
