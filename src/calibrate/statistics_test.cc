#include "calibrate/statistics.h"

#include <gmock/gmock.h>

#include <cmath>

namespace orrery {
namespace {

using testing::ElementsAre;

TEST(Statistics, MeanAndQuantilesOfKnownSamples) {
  EXPECT_DOUBLE_EQ(mean(std::vector<double>{1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  // Type 7: position 0.9 (n - 1) = 9 of 0..10.
  EXPECT_DOUBLE_EQ(quantile({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.9), 9);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.9), 9);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
  EXPECT_DOUBLE_EQ(mean({}), 0);
}

TEST(Statistics, EqualValuesShareTheirRanks) {
  EXPECT_THAT(ranks(std::vector<double>{10, 20, 20, 5}), ElementsAre(2, 3.5, 3.5, 1));
  EXPECT_THAT(ranks(std::vector<double>{1, 1, 1}), ElementsAre(2, 2, 2));
}

TEST(Statistics, RankCorrelationOfOrderedPairsIsOne) {
  const std::vector<double> a = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(*rank_correlation(a, std::vector<double>{1, 10, 100, 1000}), 1);
  EXPECT_DOUBLE_EQ(*rank_correlation(a, std::vector<double>{9, 7, 5, 3}), -1);
}

// Without ties: 1 - 6 sum d^2 / (n (n^2 - 1)). Ranks 1 2 3 4 5 against 2 1 4 3 5: sum d^2 = 4.
TEST(Statistics, RankCorrelationFollowsSpearmansFormula) {
  EXPECT_DOUBLE_EQ(
      *rank_correlation(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{2, 1, 4, 3, 5}),
      1 - 6.0 * 4 / (5 * 24));
}

// With ties: ranks of a are 1, 2.5, 2.5, 4 and of b 1, 2, 3, 4; deviations from 2.5 give
// sum xy = 4.5, sum xx = 4.5, sum yy = 5: 4.5 / sqrt(22.5) = sqrt(0.9).
TEST(Statistics, RankCorrelationWithTies) {
  EXPECT_NEAR(*rank_correlation(std::vector<double>{1, 2, 2, 3}, std::vector<double>{1, 2, 3, 4}),
              std::sqrt(0.9), 1e-15);
}

TEST(Statistics, NoCorrelationWhereNothingVaries) {
  EXPECT_FALSE(rank_correlation(std::vector<double>{1, 1}, std::vector<double>{1, 2}));
  EXPECT_FALSE(rank_correlation(std::vector<double>{1, 2}, std::vector<double>{3, 3}));
  EXPECT_FALSE(rank_correlation(std::vector<double>{1}, std::vector<double>{1}));
}

}  // namespace
}  // namespace orrery
