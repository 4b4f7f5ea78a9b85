// How far the device is behind its host: what of a step's window on the host it spends on work that
// was launched before, in earlier steps.
//
//   earlier   of the window, the time in which work runs that was launched before it began
//   busy      of the window, the time in which any work runs of which it is known
//   behind    from the end of the window to the end of the last work launched in it; 0: none
//
// Work without a recorded call counts as earlier where it stands before launched work of its stream
// and none of it has come yet: streams run in order. Of a stream without a launch nothing is known,
// and where a recording has no launches at all (Chakra, a profiler of the device alone) neither
// earlier nor behind is. Where most of what a device does in windows is earlier, a window's parts
// are those of the steps before. O(work log work) over all windows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/launches.h"
#include "timeline/intervals.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct DeviceLag {
  bool known = false;  // launches are recorded; else the rest is 0
  std::int64_t busy_ns = 0;
  std::int64_t earlier_ns = 0;
  std::int64_t behind_ns = 0;
};

// Of each window, by start.
std::vector<DeviceLag> device_lags(const RecordedTrace& trace, const Launches& started,
                                   std::span<const Interval> windows);

}  // namespace orrery
