#include "numerics/deviation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

double quantile(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

Deviation deviation(std::span<const double> computed, std::span<const double> golden,
                    const FloatFormat& ulp_of) {
  Deviation out;
  std::vector<double> ulps;
  ulps.reserve(golden.size());
  double sum = 0;
  double squares = 0;
  double golden_squares = 0;
  double golden_largest = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    if (!std::isfinite(computed[i]) || !std::isfinite(golden[i])) {
      ++out.not_finite;
      continue;
    }
    const double d = std::abs(computed[i] - golden[i]);
    sum += d;
    squares += d * d;
    golden_squares += golden[i] * golden[i];
    golden_largest = std::max(golden_largest, std::abs(golden[i]));
    out.largest = std::max(out.largest, d);
    const int exponent = std::max(golden[i] == 0 ? ulp_of.least_exponent() : std::ilogb(golden[i]),
                                  ulp_of.least_exponent());
    ulps.push_back(d / std::ldexp(1.0, exponent - ulp_of.mantissa_bits));
  }
  if (ulps.empty()) return out;
  const auto n = static_cast<double>(ulps.size());
  out.mean = sum / n;
  out.spread = std::sqrt(std::max(0.0, squares / n - out.mean * out.mean));
  out.relative_rms = golden_squares > 0 ? std::sqrt(squares / golden_squares) : 0;
  out.largest_relative = golden_largest > 0 ? out.largest / golden_largest : 0;
  out.ulps_median = quantile(ulps, 0.5);
  out.ulps_p99 = quantile(ulps, 0.99);
  out.ulps_largest = *std::ranges::max_element(ulps);
  return out;
}

Deviation mean_of(std::span<const Deviation> deviations) {
  constexpr std::array kFigures = {&Deviation::largest,          &Deviation::mean,
                                   &Deviation::spread,           &Deviation::relative_rms,
                                   &Deviation::largest_relative, &Deviation::ulps_median,
                                   &Deviation::ulps_p99,         &Deviation::ulps_largest};
  Deviation out;
  for (const Deviation& d : deviations) {
    for (const auto figure : kFigures) {
      out.*figure += d.*figure / static_cast<double>(deviations.size());
    }
    out.not_finite += d.not_finite;
  }
  return out;
}

}  // namespace orrery
