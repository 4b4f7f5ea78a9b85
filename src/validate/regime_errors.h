// Quantiles of held-out errors by regime, narrow regimes drawn towards wider ones.
//
//   q = (n q_own + k q_wider) / (n + k),   n = (sum r_s)^2 / sum r_s^2,   k = kShrinkage
//
// where r_s rows are of source s: the errors of one source lie together, so that a regime that one
// source measured says as little as one row of each source would (n is Kish's effective size of a
// sample with weights r_s: Survey Sampling, 1965).
//
// Quantiles are of log(measured / predicted) at tail = (1 - level) / 2 and 1 - tail, taken so that
// a further step lies beyond with just that probability: the (n + 1) tail-th smallest of n
// (conformal prediction: Lei et al. 2018, arXiv 1604.04173, s.2); of few, the least and the
// largest. The order of the residuals does not matter. What the regimes are:
// estimate/uncertainty.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "estimate/uncertainty.h"

namespace orrery {

inline constexpr double kShrinkage = 4;  // sources that a wider regime counts as

struct RegimeResidual {
  Regime regime;
  std::string source;
  double log_ratio = 0;  // log(measured / predicted)
};

// Of every regime that occurs and of every wider one, sorted; of no residuals: all steps, 0 to 0.
std::vector<RegimeError> regime_errors(std::span<const RegimeResidual> residuals, double level);

// The spread between sources, of what being left out whole adds to their residuals, one list a
// source: equations
// and use in estimate/uncertainty.h. Student's quantile is that of as many degrees of freedom as
// sources, for 0 is given and no mean is taken (Abramowitz and Stegun 26.7.5). Of fewer than two
// sources: nothing.
BetweenSources between_sources(std::span<const std::vector<double>> residuals);

}  // namespace orrery
