// The busiest rank of uneven experts by hand, and what no placement or capacity may break.
#include "lower/expert_balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace orrery {
namespace {

constexpr double kMany = 1e12;  // rows: so many that chance does not matter

Plan on(std::int64_t ep, ExpertPlacement placement = ExpertPlacement::numbered,
        std::int64_t redundant = 0) {
  Plan plan;
  plan.ep = ep;
  plan.expert_placement = placement;
  plan.redundant_experts = redundant;
  return plan;
}

TEST(ExpertBalance, OfEqualExpertsIsChanceAlone) {
  // 1 + sqrt(2 ln 8 / 1000).
  EXPECT_NEAR(expert_balance({}, on(8), 64, 1000).busiest, 1.06449, 1e-5);
  EXPECT_EQ(expert_balance({}, on(1), 64, 1000).busiest, 1);
  EXPECT_EQ(expert_balance({}, on(8), 64, 1000).dropped, 0);
}

TEST(ExpertBalance, MeasuredTokensByHand) {
  const ExpertLoad load{.tokens = {4, 3, 2, 1}};
  // Neighbours have 7 and 3 of 10, packed 5 and 5.
  EXPECT_NEAR(expert_balance(load, on(2), 4, kMany).busiest, 1.4, 1e-4);
  EXPECT_NEAR(expert_balance(load, on(2, ExpertPlacement::balanced), 4, kMany).busiest, 1, 1e-4);
  // Two copies more: of the first, then of the second. Parts 2 2 1.5 1.5 2 1 in three places a rank.
  EXPECT_NEAR(expert_balance(load, on(2, ExpertPlacement::numbered, 2), 4, kMany).busiest, 1, 1e-4);
}

TEST(ExpertBalance, TheMostPopularExpertExceedsTheMeanByItsViolation) {
  EXPECT_NEAR(expert_balance({.max_violation = 0.72}, on(16), 16, kMany).busiest, 1.72, 1e-4);
  // Eight experts a rank: one of 1.72, seven of a little less than one.
  const double others = (64 - 1.72) / 63;
  EXPECT_NEAR(expert_balance({.max_violation = 0.72}, on(8), 64, kMany).busiest,
              (1.72 + 7 * others) / 8, 1e-4);
}

TEST(ExpertBalance, CapacityDropsWhatIsTooMuch) {
  // Of 4, 3, 2, 1 an expert takes 2.5 at most: 2 of 10 are dropped.
  const ExpertLoad load{.tokens = {4, 3, 2, 1}, .capacity_factor = 1};
  const ExpertBalance own = expert_balance(load, on(4), 4, kMany);
  EXPECT_NEAR(own.dropped, 0.2, 1e-4);
  EXPECT_NEAR(own.busiest, 1, 1e-4);
  ExpertLoad padded = load;
  padded.capacity_factor = 1.25;
  padded.padded = true;
  EXPECT_EQ(expert_balance(padded, on(4), 4, kMany).busiest, 1.25);
  EXPECT_EQ(expert_balance(padded, on(1), 4, kMany).busiest, 1.25);
}

// Chance alone drops E[max(0, X - C)] of each expert: with C at the mean, sqrt(mean / 2 pi).
TEST(ExpertBalance, ChanceDropsTokensAtACapacityOfTheMean) {
  const ExpertBalance b = expert_balance({.capacity_factor = 1}, on(8), 8, 8 * 256.0);
  EXPECT_NEAR(b.dropped, 16 / std::sqrt(2 * 3.14159265) / 256, 1e-6);
  EXPECT_LT(expert_balance({.capacity_factor = 1.25}, on(8), 8, 8 * 256.0).dropped, 1e-4);
}

TEST(ExpertBalance, KeepsItsLawsOnRandomLoads) {
  std::mt19937 random(17);
  double sum_numbered = 0;
  double sum_balanced = 0;
  for (int i = 0; i < 300; ++i) {
    const std::int64_t ep = std::int64_t{1} << (1 + random() % 4);
    const std::int64_t experts = ep * static_cast<std::int64_t>(1 + random() % 8);
    ExpertLoad load;
    if (random() % 2 == 0) {
      load.power_law = 0.1 * static_cast<double>(random() % 20);
    } else {
      for (std::int64_t e = 0; e < experts; ++e) {
        load.tokens.push_back(static_cast<double>(random() % 100 + 1));
      }
    }
    const auto busiest = [&](ExpertPlacement placement, std::int64_t redundant) {
      return expert_balance(load, on(ep, placement, redundant), experts, kMany).busiest;
    };
    const double numbered = busiest(ExpertPlacement::numbered, 0);
    const double balanced = busiest(ExpertPlacement::balanced, 0);
    // What goes to the least loaded rank leaves it at most one expert above the others.
    const double largest = load.tokens.empty()
                               ? 1
                               : *std::ranges::max_element(load.tokens) /
                                     std::accumulate(load.tokens.begin(), load.tokens.end(), 0.0);
    EXPECT_LE(balanced, 1 + static_cast<double>(ep) * largest);
    sum_numbered += numbered;
    sum_balanced += balanced;
    EXPECT_GE(balanced, 1 - 1e-9);
    EXPECT_LE(numbered, static_cast<double>(ep) * (1 + 1e-4));
    // The sum of all loads is theirs however they are copied, so no rank falls below the mean.
    EXPECT_GE(busiest(ExpertPlacement::balanced, ep), 1 - 1e-9);
    // A tighter capacity drops more and leaves the busiest less.
    ExpertBalance before{.busiest = 1e9, .dropped = -1e-12};
    for (const double capacity : {2.0, 1.5, 1.25, 1.0, 0.5}) {
      load.capacity_factor = capacity;
      const ExpertBalance b = expert_balance(load, on(ep), experts, 4096.0 * 8);
      EXPECT_LE(b.busiest, before.busiest * (1 + 1e-9));
      EXPECT_LE(b.busiest, capacity);
      EXPECT_GE(b.dropped, before.dropped);
      before = b;
    }
  }
  EXPECT_LT(sum_balanced, 0.9 * sum_numbered);
}

}  // namespace
}  // namespace orrery
