// How far an estimated step time may be off: from the errors of sources that were left out whole.
//
//   measured / predicted lies in [exp(low s), exp(high s)] for `level` of the steps of a new source
//
//   s^2 = F (d^2 + sum over k of (share_k d_k)^2),  F = 1 + 1 / max(n, 1/2)
//
// Parts of a step differ in how well they can be predicted. Matrix products rest on measured rates
// and are predicted best; attention depends on kernels, masks and packing; exposed communication on
// details of the network that are not known; waiting on both. d is the scale of the error that
// every step has, d_k that of part k by itself, and share_k the share of the step that part k takes
// on the critical stage.
//
// n is the number of other sources that measured steps of that kind of model on that architecture.
// The error of a new source has the variance of sources about their mean, and the mean of n sources
// has 1 / n of that, hence F. n = 0 counts as 1/2: F has to be finite then, and larger than the 2
// of one source. That it is 3 was chosen, with the parts, by how many steps of sources left out lie
// inside their intervals (docs/calibrate.md).
//
// low and high are quantiles of log(measured / predicted) / s over left-out steps, each source
// counting as much as any other: whoever asks is one more source. low and high differ because
// errors are skewed. validate/step_spread.h says how all six numbers are found. How well intervals
// hold is measured on sources left out of the fit and of the interval (docs/validation.md): none of
// their errors is in it, though the fits that the errors of other sources come from have seen them.
//
// An estimate says that it extrapolates if no step was measured that is like it: of its
// architecture and kind (dense, mixture of experts, adapters), on accelerators and a sequence less
// than kNear times away, and of these some on its accelerator with its software, by two sources. A
// step that differs from a measured one in its plan alone does not extrapolate. kNear is two
// doublings: a class of scale spans a factor of eight, so that a step nearer than four is of the
// same class or the next, and attention, which grows with the square of the sequence, keeps its
// place among the costs. The interval is made in the same way for both.
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
#include "timeline/breakdown.h"
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

// What a step spends its time on, as far as that decides how well it can be predicted: shares of
// its time on the critical stage.
struct StepShares {
  double attention = 0;  // the kernels between queries and values
  double network = 0;    // exposed communication other than expert exchange, and contention
  double waiting = 0;    // bubbles and the host
  bool operator==(const StepShares&) const = default;
};
StepShares shares_of(const Breakdown& step);

// Scales of log(measured / predicted), of every step and of parts by themselves: of a Student's
// distribution (validate/step_spread.h), whose standard deviation is 1.4 times as large.
struct StepDeviations {
  double step = 0;
  double attention = 0;
  double network = 0;
  double waiting = 0;
  bool operator==(const StepDeviations&) const = default;
};
// F above, of n = sources.
double few_sources_factor(int sources);
// s above, of a step like which so many other sources measured some.
double deviation(const StepDeviations& deviations, const StepShares& shares, int sources);

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

// Sources but that of `step` that measured steps of its kind on its architecture.
int sources_like(std::span<const StepPoint> measured, const StepPoint& step);

// The file catalog/step/uncertainty.yaml.
struct Uncertainty {
  std::string source;
  double level = kIntervalLevel;
  StepDeviations deviations;
  double low = 0;  // quantiles of log(measured / predicted) / s
  double high = 0;
  std::vector<StepPoint> measured;
};

Fields<StepDeviations> fields_of(const StepDeviations*);
Fields<StepPoint> fields_of(const StepPoint*);
Fields<Uncertainty> fields_of(const Uncertainty*);

// Errors: those of read(); a deviation or a quantile that is out of range; a level outside (0, 1).
Result<Uncertainty> read_uncertainty(const Document& document);
Result<Uncertainty> load_uncertainty(const Catalog& catalog);
// The text of that file. Errors: as read_uncertainty, so that all that is written can be read.
Result<std::string> uncertainty_file(const Uncertainty& uncertainty);

// The ends of an interval, log(measured / predicted): low <= 0 <= high, so that the estimate itself
// stays inside.
struct ErrorRange {
  double low = 0;
  double high = 0;
};
ErrorRange error_range(const Uncertainty& uncertainty, const StepShares& shares,
                       const StepPoint& step);

struct StepTimeInterval {
  Seconds low, high;
  double level = kIntervalLevel;
  std::string basis;     // what the errors were, and how many sources measured such steps
  std::string distance;  // "extrapolates: ...; the nearest measured step is ..."
  bool extrapolates = false;
  bool calibrated = true;  // false: no step of a model of this family is among the errors
};
StepTimeInterval interval(const Uncertainty& uncertainty, Seconds step_time,
                          const StepShares& shares, const Model& model, const Cluster& cluster,
                          const Training& training, std::string_view software);

}  // namespace orrery
