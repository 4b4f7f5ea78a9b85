// The share of each millisecond in which at least one stream executed a kernel.
//
//   u(k) = |kernels within [start + k b, start + (k + 1) b)| / b        b = 1 ms unless said
//
// The last bin is of the rest of the window alone. Source: Lumos (arXiv 2504.09307), its timeline
// of SM utilization. Not modelled: how many SMs a kernel occupies. O(bins + kernels).
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/intervals.h"

namespace orrery {

inline constexpr std::int64_t kUtilizationBinNs = 1'000'000;
// A longer window gets wider bins, so that memory stays bounded.
inline constexpr std::int64_t kMostUtilizationBins = 100'000;

struct Utilization {
  Interval window;
  std::int64_t bin_ns = kUtilizationBinNs;
  std::vector<double> busy = {};  // 0 to 1, a bin

  [[nodiscard]] double mean() const;  // over time
};

Utilization utilization(const Intervals& kernels, Interval window,
                        std::int64_t bin_ns = kUtilizationBinNs);

}  // namespace orrery
