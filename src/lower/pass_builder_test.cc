#include "lower/pass_builder.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr Seconds operator""_us(unsigned long long n) {
  return Seconds(static_cast<double>(n) * 1e-6);
}

const HostCosts kHost{.kernel = 2_us, .product = 3_us, .collective = 5_us};

double microseconds(Picoseconds t) { return t.count() * 1e-6; }

TEST(PassBuilder, ATransferRunsBesideWhatDoesNotWaitForIt) {
  PassBuilder out(0, kHost);
  out.compute("first", Category::feed_forward, 10_us);
  const auto sent = out.transfer("sent", StreamKind::tp, Category::exposed_tp, 30_us);
  out.compute("beside", Category::feed_forward, 20_us);
  out.wait_for(sent);
  out.compute("after", Category::elementwise, 5_us);
  const BlockPass pass = out.finish();
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 10 + 30 + 5);
  EXPECT_DOUBLE_EQ(microseconds(pass.breakdown[Category::exposed_tp]), 10);
  EXPECT_DOUBLE_EQ(microseconds(pass.computing()), 35);
  EXPECT_EQ(pass.breakdown.total(), pass.time);
}

TEST(PassBuilder, ThePassEndsWhenAllItsStreamsHave) {
  PassBuilder out(0, kHost);
  out.compute("first", Category::feed_forward, 10_us);
  out.wait_for(out.transfer("last", StreamKind::ep, Category::exposed_ep, 7_us));
  EXPECT_DOUBLE_EQ(microseconds(out.finish().time), 17);
}

TEST(PassBuilder, ATransferWithoutTimeIsNoTransfer) {
  PassBuilder out(0, kHost);
  EXPECT_FALSE(out.transfer("nothing", StreamKind::tp, Category::exposed_tp, Seconds(0)));
}

TEST(PassBuilder, WhatRunsBesideATransferLosesItsShare) {
  PassBuilder out(0.1, kHost);
  out.slowed_compute("slowed", Category::feed_forward, 90_us, 50_us);
  const BlockPass pass = out.finish();
  EXPECT_DOUBLE_EQ(microseconds(pass.breakdown[Category::contention]), 5);
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 95);
}

TEST(PassBuilder, TheHostLaunchesKernelsModulesAndCollectives) {
  PassBuilder out(0, kHost);
  out.launch_module();
  out.compute("product", Category::feed_forward, 10_us);
  out.transfer("sent", StreamKind::tp, Category::exposed_tp, 4_us);
  out.compute("chain", Category::elementwise, 6_us, 3);
  EXPECT_DOUBLE_EQ(microseconds(out.finish().host), 4 * 2 + 3 + 5);
}

TEST(PassBuilder, AGraphIsOneLaunch) {
  HostCosts host = kHost;
  host.launches = LaunchPath::graphs;
  PassBuilder out(0, host);
  out.compute("chain", Category::elementwise, 6_us, 30);
  EXPECT_DOUBLE_EQ(microseconds(out.finish().host), 2);
}

TEST(PassBuilder, WaitingForTheHostIsBookedOnIt) {
  PassBuilder out(0, kHost);
  out.compute("short", Category::elementwise, 1_us);
  const BlockPass pass = out.finish(Picoseconds(3e6));
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 4);
  EXPECT_DOUBLE_EQ(microseconds(pass.breakdown[Category::host]), 3);
  EXPECT_EQ(pass.breakdown.total(), pass.time);
}

}  // namespace
}  // namespace orrery
