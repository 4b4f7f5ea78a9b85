#include "analyze/spread.h"

#include <algorithm>
#include <numeric>

namespace orrery {

Spread spread_of(std::vector<std::int64_t> durations_ns) {
  if (durations_ns.empty()) return {};
  std::ranges::sort(durations_ns);
  const std::size_t n = durations_ns.size();
  const std::int64_t upper = durations_ns[n / 2];
  const std::int64_t lower = durations_ns[(n - 1) / 2];
  return {.count = static_cast<std::int64_t>(n),
          .total_ns = std::accumulate(durations_ns.begin(), durations_ns.end(), std::int64_t{0}),
          .median_ns = lower + (upper - lower) / 2,
          .p90_ns = durations_ns[(9 * n + 9) / 10 - 1],
          .least_ns = durations_ns.front(),
          .greatest_ns = durations_ns.back()};
}

}  // namespace orrery
