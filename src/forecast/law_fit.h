// Laws fitted to repeated times, and which of them is nearest.
//
//   normal      mean and standard deviation of the sample
//   gamma       mean; shape = (3 - s + sqrt((s - 3)^2 + 24 s)) / (12 s),  s = ln(mean) - mean(ln)
//               (Minka 2002, within 1.5 % of the largest likelihood)
//   log_normal  mean and standard deviation of the logarithms
//
// A warm-up is left out by the marginal standard error rule (White, Simulation 69(6), 1997): of n
// times in order, the first d that make
//
//   sum over i > d of (x_i - mean of x_(d+1) ... x_n)^2 / (n - d)^2
//
// least, d at most n / 2. The nearest has the least Kolmogorov-Smirnov distance sup |F_law - F_sample|. Left out: mixtures,
// times that depend on the one before.
#pragma once

#include <cstddef>
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

// How many of the first of these times, in the order in which they were measured, are a warm-up.
std::size_t warm_up(std::span<const Seconds> times);

// `times` must not be empty.
double kolmogorov_smirnov(const TimeLaw& law, std::span<const Seconds> times);

}  // namespace orrery
