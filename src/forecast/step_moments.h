// The mean and the standard deviation of the time of a step without samples: one pass over the folded
// graph with the moments of step_samples.h's factors. A check of the samples, and a thousand times
// faster.
//
// Every time is  T = m + sum over stages s of a_s Z_s + b N + rest,  with Z_s the state of the
// accelerators of a stage and N that of the network (both standardized), and `rest` independent of
// everything, part of it the same for all replicas (data-parallel communication). Durations add term
// by term. A maximum of two is a time of the same form with the mean and the variance of
//
//   max(A, B):  m = m_A P + m_B Q + t p,   second moment = (m_A^2 + v_A) P + (m_B^2 + v_B) Q
//                                                          + (m_A + m_B) t p
//   t^2 = v_A + v_B - 2 cov(A, B),  x = (m_A - m_B) / t,  P = Phi(x), Q = 1 - P, p = phi(x)
//
// (Clark, The Greatest of a Finite Set of Random Variables, Operations Research 9(2), 1961), a_s and b
// weighted by P and Q, and what is missing to the variance in `rest`. The slowest of R replicas is the
// largest of R normal values of what replicas do not share.
//
// Left out: that maxima, and the spreads of machines, are not normal; that times which wait for a
// common node share its `rest`. The median is taken to be the mean.
#pragma once

#include <optional>

#include "forecast/step_samples.h"
#include "forecast/time_law.h"

namespace orrery {

struct StepMoments {
  Seconds mean;
  Seconds deviation;  // standard deviation
  [[nodiscard]] Seconds quantile(double p) const { return mean + deviation * normal_quantile(p); }
};

// Before the samples' scale. Nothing for what it does not cover: slow nodes, steps that overlap at
// their ends, and graphs of more than 2^24 nodes times stages.
std::optional<StepMoments> step_moments(const VaryingStep& work, const StepDraws& draws);

}  // namespace orrery
