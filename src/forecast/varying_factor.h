// Two functions of the factors of variability.h: a log-normal factor of mean 1, and the largest of
// several standard normal values.
#pragma once

#include <cmath>

#include "forecast/time_law.h"

namespace orrery {

// exp(s z - s^2 / 2) of a coefficient of variation.
struct LogNormalFactor {
  double s = 0;
  explicit LogNormalFactor(double variation) : s(std::sqrt(std::log1p(variation * variation))) {}
  double operator()(double z) const { return std::exp(s * (z - s / 2)); }
};

// z of the maximum of n, given ln u: the standard normal quantile of u^(1/n), exact near 1.
inline double slowest_of(double log_u, double n) {
  return -normal_quantile(-std::expm1(log_u / n));
}

}  // namespace orrery
