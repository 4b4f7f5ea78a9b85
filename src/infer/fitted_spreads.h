// How much repeated operations vary: a law for each signature of a recording, and the spreads that
// a forecast draws from (forecast/variability.h).
//
// Of a signature with samples x of places (ranks) p, steps s and calls within a step,
//
//   x = mean + a_p + b_ps + c          spatial^2    = var(a) / mean^2
//                                      temporal^2   = var(b) / mean^2     from step to step
//                                      within step^2 = var(c) / mean^2
//
// by analysis of variance, from the innermost outwards: var(c) within the cells of a place and a
// step; var(b) that of the cells' means of a place, less var(c) / calls; var(a) that of the places'
// means, less what these means vary of themselves. None is below 0. Spatial needs two places,
// temporal two steps.
//
// The law is the nearest of normal, Gamma and log-normal by Kolmogorov-Smirnov distance; where even
// that exceeds 1.36 / sqrt(n), the samples themselves (empirical). The bound is that of a law that
// was not fitted to the same times; fitted ones pass it more easily (Lilliefors 1967).
//
// Waiting. A communication of which not all ranks are recorded may hold waiting. Otsu's threshold
// (IEEE SMC-9, 1979) on the logarithms,
//
//   t = argmax w0 w1 (m0 - m1)^2,
//
// splits it off where the two sides explain more than 3/4 of the variance, which is what they
// explain of a uniform distribution (of a normal one 2/pi): only then are there two regimes.
//
// A kind's law is fitted in the same way to the factors x / mean of all of its signatures, each
// scaled to the spread of the kind: of places' means for the spatial one, of what varies about them
// for the temporal one. Where none is near enough, it is kQuantiles of these factors.
// Signatures with fewer than kLeastTimes places or times have no say.
//
// A kind's spread is that of its signatures, squares weighted by their time. What varies from call
// to call of a kernel evens out over the calls of a step, and counts divided by their number; a
// pass counts whole. The correlation is the share that steps have of the variance of ln x of all
// communication, each signature in units of its own deviation (intraclass correlation).
//
// Source: PRISM, arXiv 2510.15596 (pools by kernel and shape, one draw for a collective, Otsu's
// threshold, laws by KS distance, communication of a step correlated). Left out: signatures with
// fewer than kLeastTimes samples, in the spread of their kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forecast/law_fit.h"
#include "forecast/variability.h"
#include "infer/duration_samples.h"

namespace orrery {

inline constexpr std::size_t kQuantiles = 64;  // of a law that is sampled

struct SpreadParts {
  std::optional<double> spatial;   // from place to place
  std::optional<double> temporal;  // of a place, from step to step
  std::optional<double> within;    // from call to call of a step
};

struct FittedSpread {
  DurationSignature signature;
  std::int64_t samples = 0;
  std::int64_t places = 0;
  std::int64_t steps = 0;
  std::int64_t waited = 0;  // left out by Otsu's threshold
  double calls = 0;         // of a place in a step
  Seconds mean;
  Seconds total;
  double variation = 0;  // standard deviation over mean
  SpreadParts parts;
  // Over the mean: of the places' means, of a place's times over its mean, of all times.
  std::vector<double> spatial_factors, temporal_factors, factors;
  std::optional<LawFit> nearest;  // none: too few samples
  [[nodiscard]] double largest_distance() const;
  [[nodiscard]] bool empirical() const {
    return !nearest || nearest->distance > largest_distance();
  }
};

// What a recording says of one number of a variability, and what is kept of the catalog's.
struct KindSpread {
  std::string key;                 // "products.spatial"
  double value = 0;                // of the variability that was fitted
  double kept = 0;                 // of the one that is kept where nothing is fitted
  std::int64_t samples = 0;        // of the signatures it is of
  std::string kept_because;        // empty: it is the recording's
  std::optional<LawFit> law = {};  // none: too few samples, or nothing that varies
};

struct FittedSpreads {
  std::vector<FittedSpread> rows;  // most time first
  std::vector<KindSpread> kinds;
  Variability variability;
  std::int64_t ranks = 0;
  std::int64_t steps = 0;
  std::int64_t samples = 0;
  std::string kept_name;
  std::vector<std::string> remarks;
  std::vector<std::string> assumed;
};

// `kept` gives the spreads that the samples do not. Errors: no samples at all.
Result<FittedSpreads> fitted_spreads(const DurationSamples& samples, const Variability& kept,
                                     const std::string& name, const std::string& recording);

// Nothing where there are not two regimes. Of values above 0.
std::optional<double> otsu_threshold(std::vector<double> values);
// `samples` are of one signature, sorted by place and step.
SpreadParts spread_parts(std::span<const DurationSample> samples);

}  // namespace orrery
