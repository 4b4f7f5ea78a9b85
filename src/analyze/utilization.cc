#include "analyze/utilization.h"

#include <algorithm>

namespace orrery {

double Utilization::mean() const {
  double busy_ns = 0;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    const std::int64_t from = window.start + static_cast<std::int64_t>(i) * bin_ns;
    busy_ns += busy[i] * static_cast<double>(std::min(bin_ns, window.end - from));
  }
  return window.end > window.start ? busy_ns / static_cast<double>(window.end - window.start) : 0;
}

Utilization utilization(const Intervals& kernels, Interval window, std::int64_t bin_ns) {
  const std::int64_t span = window.end - window.start;
  while (span / bin_ns >= kMostUtilizationBins) bin_ns *= 10;
  Utilization result = {.window = window, .bin_ns = bin_ns};
  std::size_t k = 0;
  for (std::int64_t from = window.start; from < window.end; from += bin_ns) {
    const std::int64_t to = std::min(window.end, from + bin_ns);
    std::int64_t busy = 0;
    while (k < kernels.size() && kernels[k].end <= from) ++k;
    for (std::size_t i = k; i < kernels.size() && kernels[i].start < to; ++i) {
      busy += std::min(to, kernels[i].end) - std::max(from, kernels[i].start);
    }
    result.busy.push_back(static_cast<double>(busy) / static_cast<double>(to - from));
  }
  return result;
}

}  // namespace orrery
