// The factors of variability.h as functions of standard normal values, and the largest of several
// such values.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "forecast/time_law.h"

namespace orrery {

// exp(s z - s^2 / 2) of a coefficient of variation.
struct LogNormalFactor {
  double s = 0;
  explicit LogNormalFactor(double variation) : s(std::sqrt(std::log1p(variation * variation))) {}
  double operator()(double z) const { return std::exp(s * (z - s / 2)); }
};

// The form of a law: its quantile at Phi(z), less its mean, in standard deviations. Linear between
// points 1/128 apart, and constant beyond |z| = 8.
class StandardForm {
 public:
  // Of a law that varies.
  explicit StandardForm(const TimeLaw& law);
  double operator()(double z) const {
    const double at = std::clamp((z + kEnd) * kPerUnit, 0.0, kCells - 1e-9);
    const auto i = static_cast<std::size_t>(at);
    return values_[i] + (at - static_cast<double>(i)) * (values_[i + 1] - values_[i]);
  }

 private:
  static constexpr double kEnd = 8, kPerUnit = 128;
  static constexpr std::size_t kCells = 2048;
  std::array<double, kCells + 1> values_{};
};

// A factor of mean 1 and a coefficient of variation: log-normal, or 1 + variation x form(z), not
// below 0.
class VaryingFactor {
 public:
  VaryingFactor(double variation, const std::optional<TimeLaw>& law)
      : log_normal(variation), variation_(variation) {
    if (law) form_.emplace(*law);
  }
  [[nodiscard]] bool has_form() const { return form_.has_value(); }
  double operator()(double z) const {
    return form_ ? std::max(1 + variation_ * (*form_)(z), 0.0) : log_normal(z);
  }

  LogNormalFactor log_normal;

 private:
  double variation_;
  std::optional<StandardForm> form_;
};

// z of the maximum of n, given ln u: the standard normal quantile of u^(1/n), exact near 1.
inline double slowest_of(double log_u, double n) {
  return -normal_quantile(-std::expm1(log_u / n));
}

}  // namespace orrery
