#include "lower/pass_builder.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr Seconds operator""_us(unsigned long long n) {
  return Seconds(static_cast<double>(n) * 1e-6);
}

double microseconds(Picoseconds t) { return t.count() * 1e-6; }

TEST(PassBuilder, ATransferRunsBesideWhatDoesNotWaitForIt) {
  PassBuilder out(0);
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
  PassBuilder out(0);
  out.compute("first", Category::feed_forward, 10_us);
  out.wait_for(out.transfer("last", StreamKind::ep, Category::exposed_ep, 7_us));
  EXPECT_DOUBLE_EQ(microseconds(out.finish().time), 17);
}

TEST(PassBuilder, ATransferWithoutTimeIsNoTransfer) {
  PassBuilder out(0);
  EXPECT_FALSE(out.transfer("nothing", StreamKind::tp, Category::exposed_tp, Seconds(0)));
}

TEST(PassBuilder, WhatRunsBesideATransferLosesItsShare) {
  PassBuilder out(0.1);
  out.slowed_compute("slowed", Category::feed_forward, 90_us, 50_us);
  const BlockPass pass = out.finish();
  EXPECT_DOUBLE_EQ(microseconds(pass.breakdown[Category::contention]), 5);
  EXPECT_DOUBLE_EQ(microseconds(pass.time), 95);
}

}  // namespace
}  // namespace orrery
