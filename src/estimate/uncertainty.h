// How far an estimated step time may be off: from the errors of estimates that were held out.
//
//   measured / predicted lies in [exp(low), exp(high)] for `level` of the steps of a regime
//
// low and high are quantiles of log(measured / predicted) over measured steps that the calibration
// had not seen. A regime is a kind of model, an architecture of accelerators, a scale and a class
// of precision; few sources say little, so the quantiles of a regime are drawn towards
// those of the wider one
//
//   q = (n q_own + k q_wider) / (n + k),   n sources, k = 4,
//   all < kind < + architecture < + scale < + precision
//
// The kind comes first: mixtures of experts are off by other amounts than dense models wherever
// they run, and their outliers would widen the intervals of dense models on the same accelerators.
// (validate/regime_errors.h). The narrowest regime that has rows serves an estimate. How well this
// holds is measured on folds that the quantiles had not seen either (docs/validation.md).
//
// Those errors are of sources that were left out whole. Quantiles over all rows know the deviations
// of some twenty sources, of which a few have most of the rows. Whoever asks is one more source,
// with machines and settings of their own, and what that adds is the variance between sources
// (random effects): how far the error of a source that was left out lies, on average, from that of
// the same steps when only their model was left out, beyond what the spread of its rows explains,
//
//   t^2 = mean over S sources of (m_s^2 - v_s / n_s),   m, v mean and variance of n rows
//
// and every interval joins both parts as independent ones join:
//
//   low = -sqrt(low_own^2 + h^2),   high = sqrt(high_own^2 + h^2),   h = (Student's quantile) t
//
// An estimate says that it extrapolates if no step was measured that is like it: of its architecture
// and kind (dense, mixture of experts, adapters), on accelerators and a sequence less than kNear
// times away, and of these some on its accelerator with its software, by two sources. A step that
// differs from a measured one in its plan alone does not extrapolate. kNear is two doublings: a
// class of scale spans a factor of eight, so that a step nearer than four is of the same class or
// the next, and attention, which grows with the square of the sequence, keeps its place among the
// costs. Left-out steps of both kinds lie inside as often (docs/validation.md), so that the interval
// is the same.
//
// Source, date: catalog/step/uncertainty.yaml, written by `orrery calibrate --cross-validate`. Not
// modelled: errors that grow with the distance further on; the nearest measured step is named.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "document/fields.h"
#include "model/model.h"
#include "plan/plan.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

inline constexpr double kIntervalLevel = 0.9;
inline constexpr double kNear = 4;
// Parameters of one model: counts are kept to two digits.
inline constexpr double kSameModel = 1.1;

// Kinds of models. With adapters the model itself is frozen, dense or not.
inline constexpr std::string_view kDense = "dense";
inline constexpr std::string_view kMixture = "mixture of experts";
inline constexpr std::string_view kAdapters = "adapters";
inline constexpr std::string_view kWide = "32-bit";  // whatever the model
std::string kind_of(const Model& model);

// Names of classes; "*" stands for all of them.
struct Regime {
  std::string architecture = "*";  // of the accelerator: "hopper"
  std::string scale = "*";         // "one node", "to 64", "to 512", "above 512" accelerators
  std::string precision = "*";     // of products: "32 bit", "16 bit", "narrow"
  std::string kind = "*";          // of the model
  auto operator<=>(const Regime&) const = default;
};
Regime regime_of(const Cluster& cluster, NumberFormat precision, std::string_view kind);
// The regime itself, then wider and wider ones; the last is all.
std::vector<Regime> widening(const Regime& regime);

struct RegimeError {
  Regime regime;
  double rows = 0;
  double low = 0;  // log(measured / predicted)
  double high = 0;
  bool operator==(const RegimeError&) const = default;
};

// What a step is, as far as another one can be near to it.
struct StepPoint {
  std::string accelerator;
  std::string architecture;
  std::int64_t accelerators = 0;
  double parameters_b = 0;  // 1e9 parameters
  std::string kind;         // of the model
  std::int64_t sequence = 0;
  std::string software;  // profile
  std::string source;    // of a measured step
  auto operator<=>(const StepPoint&) const = default;
};
StepPoint point_of(const Model& model, const Cluster& cluster, const Training& training,
                   std::string_view software);

// Why a step is unlike every measured one, in words; empty if it is not.
std::string extrapolation(std::span<const StepPoint> measured, const StepPoint& step);

// What sources have of their own: log(measured / predicted) of sources left out whole, less that of
// their models left out.
struct BetweenSources {
  double sources = 0;     // behind it
  double deviation = 0;   // t above
  double half_width = 0;  // h above, at the level of the intervals
  bool operator==(const BetweenSources&) const = default;
};

// The file catalog/step/uncertainty.yaml.
struct Uncertainty {
  std::string source;
  double level = kIntervalLevel;
  std::vector<RegimeError> regimes;  // one of them all
  BetweenSources between_sources;
  std::vector<StepPoint> measured;
};

Fields<Regime> fields_of(const Regime*);
Fields<RegimeError> fields_of(const RegimeError*);
Fields<StepPoint> fields_of(const StepPoint*);
Fields<BetweenSources> fields_of(const BetweenSources*);
Fields<Uncertainty> fields_of(const Uncertainty*);

// Errors: those of read(); no regime of all; low above high; a negative width; a level outside (0,
// 1).
Result<Uncertainty> read_uncertainty(const Document& document);
Result<Uncertainty> load_uncertainty(const Catalog& catalog);

// The entry that serves a regime. `regimes` must hold the one of all.
const RegimeError& error_of(std::span<const RegimeError> regimes, const Regime& regime);
// That of a step: its regime's, widened by what sources have of their own.
RegimeError error_of(const Uncertainty& uncertainty, const Regime& regime);

struct StepTimeInterval {
  Seconds low, high;
  double level = kIntervalLevel;
  std::string regime;    // "hopper, to 512 accelerators, 16 bit: 120 held-out steps"
  std::string distance;  // "extrapolates: ...; the nearest measured step is ..."
  bool extrapolates = false;
};
StepTimeInterval interval(const Uncertainty& uncertainty, Seconds step_time, const Model& model,
                          const Cluster& cluster, const Training& training,
                          std::string_view software);

}  // namespace orrery
