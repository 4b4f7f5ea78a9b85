// Count, sum, mean, median, 90th percentile, least and greatest of durations.
//
// The median of an even number is the mean of the middle two (rounded down); the 90th percentile is
// the least value that at least nine tenths do not exceed.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

struct Spread {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t p90_ns = 0;
  std::int64_t least_ns = 0;
  std::int64_t greatest_ns = 0;

  [[nodiscard]] double mean_ns() const {
    return count == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(count);
  }
};

// All are 0 if there are no durations. O(n log n).
Spread spread_of(std::vector<std::int64_t> durations_ns);

}  // namespace orrery
