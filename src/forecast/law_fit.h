// Laws fitted to repeated times, and which of them is nearest.
//
//   normal      mean and standard deviation of the sample
//   gamma       mean; shape = (3 - s + sqrt((s - 3)^2 + 24 s)) / (12 s),  s = ln(mean) - mean(ln)
//               (Minka 2002, within 1.5 % of the largest likelihood)
//   log_normal  mean and standard deviation of the logarithms
//
// The nearest has the least Kolmogorov-Smirnov distance sup |F_law - F_sample|. Left out: mixtures,
// times that depend on the one before.
#pragma once

#include <span>
#include <vector>

#include "forecast/time_law.h"
#include "outcome/result.h"

namespace orrery {

// Fewer say nothing of a distribution.
inline constexpr std::size_t kLeastTimes = 20;

struct LawFit {
  TimeLaw law;
  double distance = 0;  // Kolmogorov-Smirnov, to the times it was fitted to
};

// Normal, gamma and log-normal, the nearest first. Errors: fewer than kLeastTimes; times that are
// not above 0.
Result<std::vector<LawFit>> fit_laws(std::span<const Seconds> times);

// `times` must not be empty.
double kolmogorov_smirnov(const TimeLaw& law, std::span<const Seconds> times);

}  // namespace orrery
