#include "parallel/random_draws.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

TEST(RandomDraws, AreUniformAlongEveryDirection) {
  constexpr int kCells = 64;
  constexpr std::uint64_t kDraws = 64'000;
  // Over runs, over purposes of a run, over indices of a purpose.
  for (int direction = 0; direction < 3; ++direction) {
    std::vector<double> count(kCells);
    double lagged = 0;
    double last = 0.5;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const double u = direction == 0   ? RandomDraws(1, i).uniform(3, 5)
                       : direction == 1 ? RandomDraws(1, i / 64).uniform(i % 64, 5)
                                        : RandomDraws(1, 9).uniform(3, i);
      ASSERT_GT(u, 0);
      ASSERT_LT(u, 1);
      count[static_cast<std::size_t>(u * kCells)] += 1;
      lagged += (u - 0.5) * (last - 0.5);
      last = u;
    }
    double chi_squared = 0;
    for (const double c : count) chi_squared += (c - 1000) * (c - 1000) / 1000;
    EXPECT_LT(chi_squared, 104) << direction;                      // 63 degrees of freedom, 99.9 %
    EXPECT_NEAR(lagged / kDraws, 0, 4.0 / 12 / 253) << direction;  // 4 standard errors
  }
}

TEST(RandomDraws, DifferBetweenSeeds) {
  EXPECT_NE(RandomDraws(1, 0).uniform(0, 0), RandomDraws(2, 0).uniform(0, 0));
  EXPECT_EQ(RandomDraws(1, 0).uniform(0, 0), RandomDraws(1, 0).uniform(0, 0));
}

}  // namespace
}  // namespace orrery
