// Kernels, copies and fills of one rank by name: how often, how long, and who launches them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/device_work.h"
#include "analyze/idle_time.h"
#include "analyze/spread.h"
#include "trace/launch_links.h"

namespace orrery {

struct KernelRow {
  std::uint32_t name = 0;  // into the texts of the trace
  WorkKind kind = WorkKind::none;
  Spread duration = {};
  double share = 0;          // of the summed durations of all rows
  double occupancy = -1;     // mean of what was recorded, by duration; below 0: not recorded
  std::uint32_t caller = 0;  // name of the operator that launches most of its time; 0: none known
  std::int64_t bytes = 0;    // of copies and fills, where recorded
};

// Longest total first; then by name. Of the events that start in `window`. O(events).
std::vector<KernelRow> kernel_table(const RecordedTrace& trace, const LaunchLinks& links,
                                    const std::vector<WorkKind>& kinds, Interval window = kAllTime);

// What one stream did between its first and its last work.
struct StreamRow {
  std::uint32_t lane = 0;
  std::int64_t work = 0;  // kernels, copies and fills
  Interval span = {};
  std::int64_t busy_ns = 0;
  DeviceIdle idle = {};             // of the stream alone: busy + idle = span
  std::array<Spread, 3> gaps = {};  // between its pieces of work, by GapCause
  std::int64_t longest_queue = 0;   // see queue_length.h
};

// By lane; streams without work are left out.
std::vector<StreamRow> stream_table(const RecordedTrace& trace, const LaunchLinks& links,
                                    const std::vector<WorkKind>& kinds);

}  // namespace orrery
