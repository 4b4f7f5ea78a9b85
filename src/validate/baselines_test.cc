#include "validate/baselines.h"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

BaselineStep at(const char* accelerator, double doublings, double share) {
  return {accelerator, "bf16", "dense", {doublings}, std::log(10.0), std::log(share)};
}

// Steps that take 10 s at the peak rate.
const std::vector<BaselineStep> kSteps = {at("a", 0, 0.5), at("a", 1, 0.4), at("a", 2, 0.2),
                                          at("a", 9, 0.1), at("b", 0, 0.9)};
const std::vector<std::size_t> kAll = {0, 1, 2, 3, 4};

TEST(Baselines, AConstantRateIsTheMedianOfTheAccelerator) {
  EXPECT_NEAR(std::exp(constant_rate(kSteps, kAll, at("a", 5, 1))), 10 / std::sqrt(0.4 * 0.2),
              1e-9);
  EXPECT_NEAR(std::exp(constant_rate(kSteps, kAll, at("b", 5, 1))), 10 / 0.9, 1e-9);
  // Nobody measured c: the median of all.
  EXPECT_NEAR(std::exp(constant_rate(kSteps, kAll, at("c", 5, 1))), 10 / 0.4, 1e-9);
}

TEST(Baselines, TheNearestStepsAreOfTheSameSystem) {
  const double expected = 10 / std::cbrt(0.5 * 0.4 * 0.2);
  EXPECT_NEAR(std::exp(nearest_steps(kSteps, kAll, at("a", 0, 1))), expected, 1e-9);
  const std::vector<std::size_t> one = {4};
  EXPECT_NEAR(std::exp(nearest_steps(kSteps, one, at("a", 0, 1))), 10 / 0.9, 1e-9);
}

}  // namespace
}  // namespace orrery
