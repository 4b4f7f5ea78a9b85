// How much work is launched but not yet started on each stream.
//
// +1 at the start of a launch call, -1 at the start of its work; work whose call was not recorded
// is not counted. A full queue (1024 entries on NVIDIA devices) blocks the host; an empty one means
// that the device waits for the host.
//
// Source: facebookresearch/HolisticTraceAnalysis f4d0062 (queue length); the capacity is its
// constant. O(events log events).
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/device_work.h"
#include "trace/launch_links.h"

namespace orrery {

inline constexpr std::int64_t kFullQueue = 1024;

struct QueueChange {
  std::int64_t time_ns = 0;
  std::uint32_t event = 0;  // the call, or the work
  std::int64_t length = 0;  // from now on
};

// One list for each lane, by time; empty for host lanes.
std::vector<std::vector<QueueChange>> queue_lengths(const RecordedTrace& trace,
                                                    const LaunchLinks& links);

struct QueueSummary {
  std::int64_t longest = 0;
  double mean = 0;           // over time, from the first change to the last
  std::int64_t full_ns = 0;  // at kFullQueue or more
  std::int64_t empty_ns = 0;
  std::int64_t span_ns = 0;
};
QueueSummary summary_of(const std::vector<QueueChange>& changes);

// The longest queue in each of equal parts of a window, in order: what a chart shows.
struct QueueSeries {
  Interval window;
  std::int64_t bin_ns = 1;
  std::vector<std::int64_t> longest = {};
};
inline constexpr std::int64_t kMostQueueBins = 500;
QueueSeries series_of(const std::vector<QueueChange>& changes, Interval window);

}  // namespace orrery
