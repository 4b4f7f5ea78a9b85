#include "validate/step_spread.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace orrery {
namespace {

constexpr int kUpdates = 400;  // the last hundred change no deviation by 0.0001
constexpr std::size_t kParts = 4;

struct Part {
  std::array<double, kParts> squares{};  // F x_k^2
  double error = 0;                      // e
  double weight = 0;                     // w
};

// The value below which `share` of the weight lies; of (value, weight) in rising order.
double weighted_quantile(const std::vector<std::pair<double, double>>& values, double share) {
  double whole = 0;
  for (const auto& [value, weight] : values) whole += weight;
  double below = 0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= share * whole) return value;
  }
  return values.back().first;
}

double variance(const Part& part, const std::array<double, kParts>& v) {
  double out = 0;
  for (std::size_t k = 0; k < kParts; ++k) out += v[k] * part.squares[k];
  return out;
}

}  // namespace

StepSpread spread_of(std::span<const LeftOutStep> steps, std::span<const StepPoint> measured,
                     double level) {
  if (steps.empty()) return {};
  std::map<std::string, double> of_source;
  for (const LeftOutStep& step : steps) of_source[step.point.source] += 1;
  std::map<std::tuple<std::string, std::string, std::string>, double> few;
  std::vector<Part> parts;
  for (const LeftOutStep& step : steps) {
    const auto [place, first] =
        few.try_emplace({step.point.architecture, step.point.kind, step.point.source});
    if (first) place->second = few_sources_factor(sources_like(measured, step.point));
    const double f = place->second;
    const auto square = [&](double x) { return f * x * x; };
    parts.push_back({{f, square(step.shares.attention), square(step.shares.network),
                      square(step.shares.waiting)},
                     step.log_ratio,
                     1 / of_source[step.point.source]});
  }
  // Sums of the same numbers in the same order, whatever the order of the steps.
  std::ranges::sort(parts, {},
                    [](const Part& p) { return std::tuple(p.error, p.squares, p.weight); });

  std::array<double, kParts> v;
  v.fill(0.01);
  for (int update = 0; update < kUpdates; ++update) {
    std::array<double, kParts> up{};
    std::array<double, kParts> down{};
    for (const Part& part : parts) {
      const double s2 = variance(part, v);
      const double e2 = part.error * part.error;
      const double t = (kDegrees + 1) / (kDegrees + e2 / s2);
      for (std::size_t k = 0; k < kParts; ++k) {
        up[k] += part.weight * t * part.squares[k] * e2 / (s2 * s2);
        down[k] += part.weight * part.squares[k] / s2;
      }
    }
    for (std::size_t k = 0; k < kParts; ++k) {
      v[k] = down[k] > 0 ? std::max(v[k] * std::sqrt(up[k] / down[k]), 1e-12) : 0;
    }
  }
  StepSpread out;
  out.deviations = {std::sqrt(v[0]), std::sqrt(v[1]), std::sqrt(v[2]), std::sqrt(v[3])};

  std::vector<std::pair<double, double>> ratios;
  for (const Part& part : parts) {
    ratios.emplace_back(part.error / std::sqrt(variance(part, v)), part.weight);
  }
  std::ranges::sort(ratios);
  const double tail = (1 - level) / 2;
  out.low = std::min(weighted_quantile(ratios, tail), 0.0);
  out.high = std::max(weighted_quantile(ratios, 1 - tail), 0.0);
  return out;
}

}  // namespace orrery
