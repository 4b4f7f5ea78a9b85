#include "forecast/routed_law.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

RoutedLaw routed(std::string_view name) { return *load_routed_law(Catalog::built_in(), name); }

TEST(RoutedLaw, HasTheValuesOfItsConstants) {
  const RoutedLaw law = routed("s-base");
  EXPECT_NEAR(law.saturated(1), 1.847, 1e-9);
  EXPECT_NEAR(law.saturated(8), 8.615, 1e-3);
  EXPECT_NEAR(law.saturated(128), 91.4, 0.1);
  EXPECT_NEAR(law.loss(5e6, 1), 3.483, 1e-3);
  EXPECT_NEAR(law.loss(5e6, 8), 3.236, 1e-3);
  EXPECT_NEAR(law.loss(5e6, 128), 2.892, 1e-3);
}

// Published: 5 M parameters with 128 experts are worth 55 M dense ones; rounded constants give 52 M.
TEST(RoutedLaw, FindsTheDenseModelOfTheSameLoss) {
  for (const char* name : {"s-base", "rl-r", "hash"}) {
    const RoutedLaw law = routed(name);
    const double dense = law.dense_equivalent(5e6, 128);
    EXPECT_NEAR(dense / 55e6, 1, 0.15) << name;
    EXPECT_NEAR(law.loss(dense, 1), law.loss(5e6, 128), 1e-9) << name;
    EXPECT_NEAR(law.dense_equivalent(1e9, 1), 1e9, 1) << name;
    EXPECT_GT(law.dense_equivalent(1e9, 64), law.dense_equivalent(1e9, 8)) << name;
  }
  EXPECT_NEAR(routed("s-base").dense_equivalent(5e6, 128), 52e6, 0.5e6);
}

// b + c log N = 0: beyond, experts are worth nothing.
TEST(RoutedLaw, StopsHelpingAtItsCutoff) {
  const RoutedLaw law = routed("rl-r");
  const double cutoff = std::pow(10, -law.experts / law.both);
  EXPECT_GT(law.dense_equivalent(cutoff / 2, 64), cutoff / 2);
  EXPECT_EQ(law.dense_equivalent(cutoff * 2, 64), cutoff * 2);
}

}  // namespace
}  // namespace orrery
