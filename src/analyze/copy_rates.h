// How fast copies and fills moved memory, by kind and over time.
//
//   rate of a copy    bytes / duration                   of those that recorded their bytes
//   rate of a kind    sum of bytes / sum of durations
//   rate in a bin     bytes of all copies of the kind, spread evenly over each, within the bin / b
//
// A kind is the name that the profiler gives: "Memcpy HtoD (Pinned -> Device)". The bins are those
// of utilization.h, so that both stand above each other. Source: memory bandwidth of
// HolisticTraceAnalysis, which adds up the rates of running copies. O(bins x kinds + copies).
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/utilization.h"
#include "trace/recorded_trace.h"
#include "units/quantity.h"

namespace orrery {

struct CopyRates {
  std::uint32_t name = 0;  // into the texts of the trace
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t total_ns = 0;
  BytesPerSecond least;
  BytesPerSecond median;
  BytesPerSecond greatest;
  std::vector<double> bytes_per_s;  // by bin

  [[nodiscard]] BytesPerSecond rate() const;
};

// Most time first, then by name; copies without bytes or duration are left out.
std::vector<CopyRates> copy_rates(const RecordedTrace& trace, const Utilization& bins);

}  // namespace orrery
