// Tokens sent once to each rank or node: closed forms, bounds, and the published bandwidths.
#include "cost/collective/token_exchange.h"

#include <gtest/gtest.h>

#include "cost/collective/collective_test_platform.h"

namespace orrery {
namespace {

using collective_test::level;
using collective_test::parameters;

// By hand: of 4 units of 2 experts, 2 drawn: a unit is missed by C(6,2)/C(8,2) = 15/28.
TEST(DistinctUnits, AreThoseOfAHypergeometricDraw) {
  EXPECT_NEAR(distinct_units(4, 8, 2), 4 * (1 - 15.0 / 28), 1e-9);
  EXPECT_DOUBLE_EQ(distinct_units(1, 256, 8), 1);     // all on one rank
  EXPECT_NEAR(distinct_units(256, 256, 8), 8, 1e-9);  // an expert a rank: every copy goes elsewhere
  EXPECT_NEAR(distinct_units(32, 128, 1), 1, 1e-9);
  EXPECT_NEAR(distinct_units(2, 4, 4), 2, 1e-9);  // every expert is chosen
}

TEST(DistinctUnits, RiseWithUnitsAndExpertsChosenAndStayBelowBoth) {
  double before = 0;
  for (const double units : {1, 2, 3, 5, 8, 16, 64, 256, 1000}) {
    const double d = distinct_units(units, 256, 8);
    EXPECT_GE(d, before) << units;
    EXPECT_LE(d, 8 + 1e-9);
    EXPECT_LE(d, units + 1e-9);
    before = d;
  }
  before = 0;
  for (const double k : {1, 2, 4, 8, 16, 256}) {
    EXPECT_GT(distinct_units(8, 256, k), before);
    before = distinct_units(8, 256, k);
  }
}

// Two groups of two experts, of which a token picks one, and both experts of it: one node of two,
// two ranks of four. Of four groups on two nodes two are picked: in one node with probability 1/3.
TEST(DistinctUnits, OfLimitedRoutingLieInTheGroupsThatATokenPicks) {
  EXPECT_NEAR(distinct_units(2, 4, 2, {2, 1}), 1, 1e-9);
  EXPECT_NEAR(distinct_units(4, 4, 2, {2, 1}), 2, 1e-9);
  EXPECT_NEAR(distinct_units(2, 4, 2, {4, 2}), 1.0 / 3 + 2 * 2.0 / 3, 1e-9);
  // DeepSeek-V3: at most 4 of 8 nodes (arXiv 2412.19437 s.2.1.2) instead of 5.3 in the mean.
  EXPECT_NEAR(distinct_units(8, 256, 8), 5.30, 0.01);
  EXPECT_LT(distinct_units(8, 256, 8, {8, 4}), 4);
  EXPECT_GT(distinct_units(8, 256, 8, {8, 4}), 3.5);
  for (const double units : {1, 2, 3, 4, 8, 16, 64, 256}) {
    EXPECT_LE(distinct_units(units, 256, 8, {8, 4}), distinct_units(units, 256, 8) + 1e-9) << units;
    EXPECT_NEAR(distinct_units(units, 256, 8, {8, 8}), distinct_units(units, 256, 8), 1e-9);
  }
}

TokenExchange tokens(double count, bool away = true) {
  return {.tokens = count, .token = Bytes(14336), .top_k = 8, .experts = 256, .away = away};
}

TEST(TokenExchange, IsTheLinksTimeInsideANode) {
  CollectiveParameters p = parameters("hopper");
  p.token_exchange.dispatch = {Seconds(0), 0.5, BytesPerSecond(0)};
  p.pairwise.latency = {};
  const std::vector<FabricLevel> node = {level("nvlink", 400, 0)};
  const double bytes = 4096 * 14336.0 * distinct_units(8, 256, 8) * 7 / 8;
  EXPECT_NEAR(token_exchange_time(tokens(4096), {8, {8}}, node, p).value(),
              bytes / (0.5 * node[0].bandwidth.value() * node[0].efficiency), 1e-9);
  EXPECT_EQ(token_exchange_time(tokens(4096), {1, {1}}, node, p), Seconds(0));
  EXPECT_EQ(token_exchange_time(tokens(0), {8, {8}}, node, p), Seconds(0));
}

// One copy for each expert is never less than one for each rank.
TEST(TokenExchange, SendsNoMoreThanAnAllToAllAndRisesWithTokens) {
  CollectiveParameters p = parameters("hopper");
  p.token_exchange.dispatch = {Seconds(0), p.pairwise.efficiency, BytesPerSecond(0)};
  const std::vector<FabricLevel> levels = {level("nvlink", 450, 0.5),
                                           level("infiniband-ndr", 50, 1.3)};
  for (const int ranks : {8, 16, 32, 64}) {
    const GroupShape group = ranks > 8 ? GroupShape{ranks, {8, ranks}} : GroupShape{8, {8}};
    const std::vector<FabricLevel> used(levels.begin(), levels.begin() + (ranks > 8 ? 2 : 1));
    double before = 0;
    for (const double count : {256.0, 4096.0, 65536.0}) {
      const double time = token_exchange_time(tokens(count), group, used, p).value();
      EXPECT_GT(time, before);
      EXPECT_LE(time,
                collective(CollectiveKind::all_to_all, Bytes(count * 8 * 14336), group, used, p)
                        .time.value() *
                    1.001)
          << ranks << " ranks, " << count;
      before = time;
    }
  }
}

// One rank of each other node sends at once, two packets on each of 64 streams: 3.5 MiB into 0.5.
TEST(TokenExchange, CountsTheIncastOfOtherNodes) {
  CollectiveParameters p = parameters("hopper");
  p.token_exchange.dispatch = {Seconds(0), 1, BytesPerSecond(0)};
  std::vector<FabricLevel> levels = {level("nvlink", 450, 0.5), level("infiniband-ndr", 50, 0.1)};
  const auto time = [&](Congestion congestion, const GroupShape& group) {
    Transport transport;
    transport.streams = 64;
    transport.buffer = Bytes(1 << 19);
    transport.congestion = congestion;
    levels.back().transport = transport;
    return token_exchange_time(tokens(65536), group, levels, p);
  };
  const auto slower = [&](const GroupShape& group) {
    return time(Congestion::ecn, group) / time(Congestion::lossless, group);
  };
  EXPECT_NEAR(slower({64, {8, 64}}), 7, 0.1);
  EXPECT_NEAR(slower({16, {8, 16}}), 1, 1e-9);
}

TEST(TokenExchange, HandlingARanksOwnTokensCountsWhereItIsSlower) {
  CollectiveParameters p = parameters("blackwell");
  const std::vector<FabricLevel> rack = {level("nvlink", 900, 0.5)};
  const Seconds with = token_exchange_time(tokens(8192), {2, {2}}, rack, p);
  p.token_exchange.dispatch.local = BytesPerSecond(0);
  EXPECT_GT(with, token_exchange_time(tokens(8192), {2, {2}}, rack, p) * 1.5);
}

}  // namespace
}  // namespace orrery
