// How far the device is behind its host: how much of a step's window on the host it spends on work
// that was launched in earlier steps.
//
//   earlier   of the window, the time in which work runs that was launched before it began
//   busy      of the window, the time in which any work runs whose launch is known
//   behind    from the end of the window to the end of the last work launched in it; 0: none
//
// Work without a recorded call counts as earlier if it comes before all launched work of its
// stream, because streams run in order. Nothing is known of a stream without a launch, and if a
// recording has no launches at all (Chakra, a profiler of the device alone), neither `earlier` nor
// `behind` is known. If most of the work in the windows is earlier, the breakdown of a window
// describes the steps before it. O(work log work) over all windows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "timeline/intervals.h"
#include "trace/launch_links.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct DeviceLag {
  bool known = false;  // launches are recorded; else the rest is 0
  std::int64_t busy_ns = 0;
  std::int64_t earlier_ns = 0;
  std::int64_t behind_ns = 0;
};

// Of each window, by start.
std::vector<DeviceLag> device_lags(const RecordedTrace& trace, const LaunchLinks& links,
                                   std::span<const Interval> windows);

}  // namespace orrery
