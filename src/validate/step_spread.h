// How far predictions of sources that were left out are off, by what their steps consist of: the
// six numbers of estimate/uncertainty.h.
//
//   e = log(measured / predicted) has the scale s,  s^2 = F sum over k of v_k x_k^2
//
// x_0 = 1, the other x_k are shares of the step, v_k is the squared deviation of part k, and
// F = 1 + 1 / max(n, 1/2), n as in estimate/uncertainty.h. The v_k are those of the greatest
// likelihood if e / s is drawn from Student's distribution with D = kDegrees degrees of freedom, so
// that outliers count little. They are found by updates that each raise it:
//
//   v_k <- v_k sqrt( sum w t x_k^2 F e^2 / s^4  /  sum w x_k^2 F / s^2 )
//   t = (D + 1) / (D + e^2 / s^2)
//
// (variance components: Zhou et al., arXiv 1509.07426, s.3; weights t: Lange, Little and Taylor,
// J. Am. Stat. Assoc. 84 (1989) 881). w is one over the steps of a source: the next one is a new
// source, and draws from sources. low and high leave (1 - level) / 2 of the weight of e / s below
// and above.
#pragma once

#include <span>

#include "estimate/uncertainty.h"

namespace orrery {

// Chosen, not fitted, and of little weight: with 2 to 8, 89.6 to 89.9 % of the steps of sources
// left out lie inside their intervals, whose mean width stays at 30 %.
inline constexpr double kDegrees = 4;

struct LeftOutStep {
  StepPoint point;  // with its source
  StepShares shares;
  double log_ratio = 0;  // log(measured / predicted)
};

struct StepSpread {
  StepDeviations deviations;
  double low = 0;  // quantiles of log(measured / predicted) / s
  double high = 0;
};
// Of intervals that hold `level` of the steps. `measured` says how many sources measured steps like
// each. The order of the steps does not matter; without any, all are 0.
StepSpread spread_of(std::span<const LeftOutStep> steps, std::span<const StepPoint> measured,
                     double level);

}  // namespace orrery
