// What the device of each rank did over the time of the run, in equal parts, so that all ranks
// can be drawn side by side.
//
// Each part has the shares of time in which the device computed, only communicated, and only copied
// or filled; the rest is idle. The parts of all ranks lie at the same moments. O(intervals).
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/device_work.h"

namespace orrery {

inline constexpr std::int64_t kTimelineBins = 240;

struct RankTimeline {
  Interval window;
  std::int64_t bin_ns = 1;
  // Shares of a bin, 0 to 1; together at most 1.
  std::vector<double> compute = {};
  std::vector<double> exposed_communication = {};
  std::vector<double> exposed_copy = {};
};

// Without bins where the window is empty.
RankTimeline rank_timeline(const DeviceWork& work, Interval window);

}  // namespace orrery
