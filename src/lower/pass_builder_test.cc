#include "lower/pass_builder.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "cluster/cluster.h"

namespace orrery {
namespace {

constexpr Seconds operator""_us(unsigned long long n) {
  return Seconds(static_cast<double>(n) * 1e-6);
}

const HostCosts kHost{.kernel = 2_us, .product = 3_us, .collective = 5_us};

// The costs of an accelerator whose host takes these times. Operations below state theirs.
CostContext costs_with(const HostCosts& host) {
  const Catalog& catalog = Catalog::built_in();
  CostContext costs = *cost_context(*parse_cluster("h100-sxm:8", catalog), catalog);
  costs.software.host = host;
  return costs;
}
const CostContext& costs() {
  static const CostContext kCosts = costs_with(kHost);
  return kCosts;
}

double microseconds(Picoseconds t) { return t.count() * 1e-6; }

TEST(PassBuilder, AGraphCostsTheHostAModuleWithOneKernel) {
  PassBuilder out(0, costs(), {});
  out.launch_as_graph(true);
  out.launch_module();
  out.compute("in the graph", Category::router, StatedTime{10_us}, 7);
  out.launch_as_graph(true);  // the same one
  out.compute("in it too", Category::router, StatedTime{10_us}, 7);
  out.launch_as_graph(false);
  out.compute("behind", Category::experts, StatedTime{10_us}, 4);
  out.launch(1, 2);
  out.launch_as_graph(true);  // holds what comes later as well
  out.compute("shared expert", Category::experts, StatedTime{10_us}, 7);
  out.launch_as_graph(false);
  const BlockPass pass = out.finish();
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 40);
  EXPECT_DOUBLE_EQ(microseconds(pass.host), (2 + 3) + 4 * 2 + 2 + 2 * 5);
}

TEST(PassBuilder, ATransferRunsBesideWhatDoesNotWaitForIt) {
  PassBuilder out(0, costs(), {});
  out.compute("first", Category::feed_forward, StatedTime{10_us}, 1);
  const auto sent = out.transfer("sent", StepStream::tp, Category::exposed_tp, StatedTime{30_us});
  out.compute("beside", Category::feed_forward, StatedTime{20_us}, 1);
  out.wait_for(sent);
  out.compute("after", Category::elementwise, StatedTime{5_us}, 1);
  const BlockPass pass = out.finish();
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 10 + 30 + 5);
  EXPECT_DOUBLE_EQ(microseconds(pass.breakdown[Category::exposed_tp]), 10);
  EXPECT_DOUBLE_EQ(microseconds(pass.computing()), 35);
  EXPECT_EQ(pass.breakdown.total(), pass.time);
}

TEST(PassBuilder, ThePassEndsWhenAllItsStreamsHave) {
  PassBuilder out(0, costs(), {});
  out.compute("first", Category::feed_forward, StatedTime{10_us}, 1);
  out.wait_for(out.transfer("last", StepStream::ep, Category::exposed_ep, StatedTime{7_us}));
  EXPECT_DOUBLE_EQ(microseconds(out.finish().time), 17);
}

TEST(PassBuilder, ATransferWithoutTimeIsNoTransfer) {
  PassBuilder out(0, costs(), {});
  EXPECT_FALSE(
      out.transfer("nothing", StepStream::tp, Category::exposed_tp, StatedTime{Seconds(0)}));
}

TEST(PassBuilder, WhatRunsBesideATransferLosesItsShare) {
  PassBuilder out(0.1, costs(), {});
  out.slowed_compute("slowed", Category::feed_forward, StatedTime{90_us}, 50_us);
  const BlockPass pass = out.finish();
  EXPECT_DOUBLE_EQ(microseconds(pass.breakdown[Category::contention]), 5);
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 95);
}

TEST(PassBuilder, TheHostLaunchesKernelsModulesAndCollectives) {
  PassBuilder out(0, costs(), {});
  out.launch_module();
  out.compute("product", Category::feed_forward, StatedTime{10_us}, 1);
  out.transfer("sent", StepStream::tp, Category::exposed_tp, StatedTime{4_us});
  out.compute("chain", Category::elementwise, StatedTime{6_us}, 3);
  EXPECT_DOUBLE_EQ(microseconds(out.finish().host), 4 * 2 + 3 + 5);
}

TEST(PassBuilder, AGraphIsOneLaunch) {
  HostCosts host = kHost;
  host.launches = LaunchPath::graphs;
  const CostContext context = costs_with(host);
  PassBuilder out(0, context, {});
  out.compute("chain", Category::elementwise, StatedTime{6_us}, 30);
  EXPECT_DOUBLE_EQ(microseconds(out.finish().host), 2);
}

TEST(PassBuilder, WaitingForTheHostIsBookedOnIt) {
  PassBuilder out(0, costs(), {});
  out.compute("short", Category::elementwise, StatedTime{1_us}, 1);
  const BlockPass pass = out.finish(Picoseconds(3e6));
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 4);
  EXPECT_DOUBLE_EQ(microseconds(pass.breakdown[Category::host]), 3);
  EXPECT_EQ(pass.breakdown.total(), pass.time);
}

}  // namespace
}  // namespace orrery
