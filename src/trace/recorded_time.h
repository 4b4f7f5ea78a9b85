// Times of recordings are whole nanoseconds: as seconds, what a recording spans, and their median.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "timeline/intervals.h"
#include "trace/recorded_trace.h"
#include "units/quantity.h"

namespace orrery {

inline Seconds seconds_of_ns(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

// From the start of the first event to the end of the last; empty where there is none.
inline Interval span_of(const RecordedTrace& trace) {
  if (trace.size() == 0) return {};
  Interval span = {trace.start_ns.front(), trace.start_ns.front()};
  for (std::size_t e = 0; e < trace.size(); ++e) span.end = std::max(span.end, trace.end_ns(e));
  return span;
}

// The median, of an even number of values the upper of the two in the middle. Reorders `values`,
// which must not be empty.
inline std::int64_t median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace orrery
