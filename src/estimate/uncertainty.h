// How far an estimated step time may be off: from the errors of estimates that were held out.
//
//   measured / predicted lies in [exp(low), exp(high)] for `level` of the steps of a regime
//
// low and high are quantiles of log(measured / predicted) over measured steps that the calibration
// had not seen. A regime is an architecture of accelerators, a scale and a class of precision; few
// rows say little, so the quantiles of a regime with n rows are drawn towards those of the wider
// one
//
//   q = (n q_own + k q_wider) / (n + k),   k = 15,   all < architecture < + scale < + precision
//
// (validate/regime_errors.h). The narrowest regime that has rows serves an estimate. How well this
// holds is measured on folds that the quantiles had not seen either (docs/validation.md). How far
// an estimate extrapolates is said by the nearest measured step, in factors of accelerators and of
// parameters.
//
// Source, date: catalog/step/uncertainty.yaml, written by `orrery calibrate --cross-validate`. Not
// modelled: that an estimate far from every measured step is off by more than its interval says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "document/fields.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

inline constexpr double kIntervalLevel = 0.9;

// Names of classes; "*" stands for all of them.
struct Regime {
  std::string architecture = "*";  // of the accelerator: "hopper"
  std::string scale = "*";         // "one node", "to 64", "to 512", "above 512" accelerators
  std::string precision = "*";     // of products: "16 bit", "narrow"
  auto operator<=>(const Regime&) const = default;
};
Regime regime_of(const Cluster& cluster, NumberFormat precision);
// The regime itself, then wider and wider ones; the last is all.
std::vector<Regime> widening(const Regime& regime);

struct RegimeError {
  Regime regime;
  double rows = 0;
  double low = 0;  // log(measured / predicted)
  double high = 0;
  bool operator==(const RegimeError&) const = default;
};

// A step that was measured.
struct MeasuredPoint {
  std::string accelerator;
  std::int64_t accelerators = 0;
  double parameters_b = 0;  // 1e9 parameters
  auto operator<=>(const MeasuredPoint&) const = default;
};

// The file catalog/step/uncertainty.yaml.
struct Uncertainty {
  std::string source;
  double level = kIntervalLevel;
  std::vector<RegimeError> regimes;  // one of them all
  std::vector<MeasuredPoint> measured;
};

const Fields<Regime>& fields_of(const Regime*);
const Fields<RegimeError>& fields_of(const RegimeError*);
const Fields<MeasuredPoint>& fields_of(const MeasuredPoint*);
const Fields<Uncertainty>& fields_of(const Uncertainty*);

// Errors: those of read(); no regime of all; low above high; a level outside (0, 1).
Result<Uncertainty> read_uncertainty(const Document& document);
Result<Uncertainty> load_uncertainty(const Catalog& catalog);

// The entry that serves a regime. `regimes` must hold the one of all.
const RegimeError& error_of(std::span<const RegimeError> regimes, const Regime& regime);

struct StepTimeInterval {
  Seconds low, high;
  double level = kIntervalLevel;
  std::string regime;    // "hopper, to 512 accelerators, 16 bit: 120 held-out steps"
  std::string distance;  // "nearest measured step: ..."; from which it extrapolates
};
StepTimeInterval interval(const Uncertainty& uncertainty, Seconds step_time, const Cluster& cluster,
                          NumberFormat precision, double parameters);

}  // namespace orrery
