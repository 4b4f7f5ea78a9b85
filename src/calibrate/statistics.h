// Statistics of relative errors and rankings.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace orrery {

double mean(std::span<const double> values);  // 0 without values

// The p-th quantile, p in [0, 1], linear between order statistics (Hyndman and Fan 1996, type 7);
// 0 without values.
double quantile(std::vector<double> values, double p);

// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);

// Spearman's rank correlation: Pearson's correlation of the ranks, which is exact with ties. In
// [-1, 1]; nothing for fewer than two pairs or if either side is all equal. Sizes must agree.
std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace orrery
