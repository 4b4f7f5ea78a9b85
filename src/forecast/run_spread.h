// The spread of a figure over simulated runs: quantiles, each with the interval in which the
// quantile of infinitely many runs lies with 95 % probability, and the mean.
//
// The p-th quantile of n runs is their order statistic of rank p n. The number of runs below the
// true quantile is binomial, so that the order statistics of ranks p n -+ 1.96 sqrt(n p (1 - p))
// enclose it whatever the distribution (Conover 1999, section 3.2; normal approximation, good from
// some hundred runs on).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace orrery {

inline constexpr double kNormal95 = 1.959963984540054;  // standard normal quantile of 0.975

template <class Q>
struct RunQuantile {
  Q value{}, low{}, high{};
};

template <class Q>
struct RunSpread {
  RunQuantile<Q> p5, p50, p95;
  Q mean{};
};

// The p-th quantile of sorted values, which must not be empty.
template <class Q>
RunQuantile<Q> quantile_of_sorted(const std::vector<Q>& values, double p) {
  const auto n = static_cast<double>(values.size());
  const auto at = [&](double rank) {
    return values[static_cast<std::size_t>(std::clamp(std::floor(rank), 0.0, n - 1))];
  };
  const double half = kNormal95 * std::sqrt(n * p * (1 - p));
  return {at(p * n), at(p * n - half), at(p * n + half)};
}

// `values` must not be empty.
template <class Q>
RunSpread<Q> run_spread_of(std::vector<Q> values) {
  std::ranges::sort(values);
  return {quantile_of_sorted(values, 0.05), quantile_of_sorted(values, 0.5),
          quantile_of_sorted(values, 0.95),
          std::accumulate(values.begin(), values.end(), Q{}) / static_cast<double>(values.size())};
}

// A share of runs, k of n, with its 95 % interval (Wilson 1927).
inline RunQuantile<double> share_of(std::size_t k, std::size_t n) {
  const auto runs = static_cast<double>(n);
  const double share = static_cast<double>(k) / runs;
  const double z2 = kNormal95 * kNormal95 / runs;
  const double middle = (share + z2 / 2) / (1 + z2);
  const double half = kNormal95 / (1 + z2) * std::sqrt(share * (1 - share) / runs + z2 / 4 / runs);
  return {share, std::max(middle - half, 0.0), std::min(middle + half, 1.0)};
}

}  // namespace orrery
