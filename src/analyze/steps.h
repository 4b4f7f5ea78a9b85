// The steps of a recording: what its profiler marked as "ProfilerStep#N" on the host.
//
// The window of a step is the duration of that mark on the host; device work of a step may run past
// it. Marks that the profiler derives for the device are not used. O(events).
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/intervals.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct RecordedStep {
  std::int64_t number = 0;  // N; the position of the mark if it is no number
  std::uint32_t event = 0;
  Interval window;
};

// By start.
std::vector<RecordedStep> recorded_steps(const RecordedTrace& trace);

}  // namespace orrery
