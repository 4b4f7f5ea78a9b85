#include "validate/regime_errors.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/statistics.h"

namespace orrery {
namespace {

// The share of values below which an interval must end so that one value more, drawn like them,
// lies beyond with probability `tail`.
double share_below(double tail, double values) {
  if (values < 2) return tail;
  return std::clamp(((values + 1) * tail - 1) / (values - 1), 0.0, 1.0);
}

// The rows of a regime.
struct OfRegime {
  std::vector<double> log_ratios;
  std::map<std::string, double> rows_of_source;

  // As many sources of equal numbers of rows would say as much.
  [[nodiscard]] double sources() const {
    const auto rows = static_cast<double>(log_ratios.size());
    double squares = 0;
    for (const auto& [source, of_source] : rows_of_source) squares += of_source * of_source;
    return squares > 0 ? rows * rows / squares : 0;
  }
};

RegimeError own_error(const Regime& regime, const std::vector<double>& values, double level) {
  const double tail = (1 - level) / 2;
  const auto n = static_cast<double>(values.size());
  return {regime, n, quantile(values, share_below(tail, n)),
          quantile(values, share_below(1 - tail, n))};
}

}  // namespace

std::vector<RegimeError> regime_errors(std::span<const RegimeResidual> residuals, double level) {
  std::map<Regime, OfRegime> values;
  std::map<Regime, Regime> parent;
  values[Regime{}];
  for (const RegimeResidual& r : residuals) {
    const std::vector<Regime> chain = widening(r.regime);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      OfRegime& of_regime = values[chain[i]];
      of_regime.log_ratios.push_back(r.log_ratio);
      of_regime.rows_of_source[r.source] += 1;
      if (i + 1 < chain.size()) parent[chain[i]] = chain[i + 1];
    }
  }
  std::map<Regime, RegimeError> done;
  // "*" sorts before every name, so that a regime comes after all wider ones.
  for (const auto& [regime, of_regime] : values) {
    const double n = of_regime.sources();
    RegimeError e = own_error(regime, of_regime.log_ratios, level);
    if (const auto wider = parent.find(regime); wider != parent.end()) {
      const RegimeError& w = done.at(wider->second);
      e.low = (n * e.low + kShrinkage * w.low) / (n + kShrinkage);
      e.high = (n * e.high + kShrinkage * w.high) / (n + kShrinkage);
    }
    done[regime] = e;
  }
  std::vector<RegimeError> out;
  for (const auto& [regime, error] : done) out.push_back(error);
  return out;
}

BetweenSources between_sources(std::span<const std::vector<double>> residuals) {
  static_assert(kIntervalLevel == 0.9);
  constexpr double kNormal = 1.6448536269514722;  // 95 % of normal draws lie below
  BetweenSources out;
  double variance = 0;
  for (const std::vector<double>& of_source : residuals) {
    const auto n = static_cast<double>(of_source.size());
    if (n < 2) continue;
    double mean = 0;
    for (const double r : of_source) mean += r / n;
    double own = 0;
    for (const double r : of_source) own += (r - mean) * (r - mean) / (n - 1);
    variance += mean * mean - own / n;
    out.sources += 1;
  }
  if (out.sources < 2) return {};
  const double z = kNormal;
  const double nu = out.sources;
  const double student = z + (z * z * z + z) / (4 * nu) +
                         (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * nu * nu);
  out.deviation = std::sqrt(std::max(variance / out.sources, 0.0));
  out.half_width = student * out.deviation;
  return out;
}

}  // namespace orrery
