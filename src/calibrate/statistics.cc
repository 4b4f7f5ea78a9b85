#include "calibrate/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "outcome/invariant.h"

namespace orrery {

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::vector<double> values, double p) {
  ORRERY_INVARIANT(p >= 0 && p <= 1);
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double share = position - static_cast<double>(below);
  return values[below] + share * (values[above] - values[below]);
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    // Ranks i + 1 ... end, shared.
    const double shared = (static_cast<double>(i) + 1 + static_cast<double>(end)) / 2;
    for (; i < end; ++i) out[order[i]] = shared;
  }
  return out;
}

std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  ORRERY_INVARIANT(a.size() == b.size());
  if (a.size() < 2) return std::nullopt;
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const double centre = (static_cast<double>(a.size()) + 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - centre) * (y[i] - centre);
    xx += (x[i] - centre) * (x[i] - centre);
    yy += (y[i] - centre) * (y[i] - centre);
  }
  if (xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

}  // namespace orrery
