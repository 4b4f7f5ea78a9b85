// How the host launches kernels and copies: how long the launch calls take, how long after the call
// the kernel starts, and which calls cost more than what they launch.
//
//   launch delay = max(0, start of the kernel - end of its launch call)
//
// Source: facebookresearch/HolisticTraceAnalysis f4d0062 (launch statistics), which counts calls of
// more than 50 us as slow and delays of more than 100 us as long. O(events log events).
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/device_work.h"
#include "analyze/spread.h"
#include "trace/launch_links.h"

namespace orrery {

inline constexpr std::int64_t kSlowCallNs = 50'000;
inline constexpr std::int64_t kLongDelayNs = 100'000;

struct LaunchRow {
  std::uint32_t name = 0;  // of the call, into the texts of the trace
  Spread call = {};
  Spread delay = {};
  Spread work = {};                    // durations of what was launched
  std::int64_t shorter_than_call = 0;  // pieces of work
  std::int64_t slow_calls = 0;
  std::int64_t long_delays = 0;
};

// One launch that stands out: events.
struct LaunchOutlier {
  std::uint32_t call = 0;
  std::uint32_t work = 0;
  std::uint32_t caller = kNoEvent;  // the operator that made the call; kNoEvent
  std::int64_t ns = 0;              // of the call, or of the delay
};
inline constexpr std::size_t kMostOutliers = 100;

struct LaunchStatistics {
  std::vector<LaunchRow> rows;  // most calls first, then by name
  // The longest first, at most kMostOutliers: of all slow calls, and of all long delays.
  std::vector<LaunchOutlier> slow_calls;
  std::vector<LaunchOutlier> long_delays;
  LaunchRow all;                  // name 0
  std::int64_t without_call = 0;  // work whose launch was not recorded
};

LaunchStatistics launch_statistics(const RecordedTrace& trace, const LaunchLinks& links,
                                   const std::vector<WorkKind>& kinds);

}  // namespace orrery
