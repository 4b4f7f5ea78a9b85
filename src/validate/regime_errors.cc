#include "validate/regime_errors.h"

#include <algorithm>
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

RegimeError own_error(const Regime& regime, const std::vector<double>& values, double level) {
  const double tail = (1 - level) / 2;
  const auto n = static_cast<double>(values.size());
  return {regime, n, quantile(values, share_below(tail, n)),
          quantile(values, share_below(1 - tail, n))};
}

}  // namespace

std::vector<RegimeError> regime_errors(std::span<const RegimeResidual> residuals, double level) {
  std::map<Regime, std::vector<double>> values;
  std::map<Regime, Regime> parent;
  values[Regime{}];
  for (const RegimeResidual& r : residuals) {
    const std::vector<Regime> chain = widening(r.regime);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      values[chain[i]].push_back(r.log_ratio);
      if (i + 1 < chain.size()) parent[chain[i]] = chain[i + 1];
    }
  }
  std::map<Regime, RegimeError> done;
  // "*" sorts before every name, so that a regime comes after all wider ones.
  for (const auto& [regime, of_regime] : values) {
    const auto n = static_cast<double>(of_regime.size());
    RegimeError e = own_error(regime, of_regime, level);
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

std::vector<RegimeError> left_out_errors(std::span<const RegimeResidual> residuals, double level) {
  std::map<Regime, std::vector<double>> values;
  values[Regime{}];
  for (const RegimeResidual& r : residuals) {
    values[Regime{}].push_back(r.log_ratio);
    values[Regime{.architecture = r.regime.architecture}].push_back(r.log_ratio);
  }
  std::vector<RegimeError> out;
  for (const auto& [regime, of_regime] : values) {
    if (regime == Regime{} || of_regime.size() >= kRowsOfAnArchitecture) {
      out.push_back(own_error(regime, of_regime, level));
    }
  }
  return out;
}

}  // namespace orrery
