// The steps of a recorded run: the marks "ProfilerStep#4" that PyTorch's profiler sets on the host.
//
// A window is the time of the host's mark. Work of a device may run past it: what is meant for one
// step is stated where windows are used.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct MarkedStep {
  std::int64_t number = kNotRecorded;  // 4 of "ProfilerStep#4"; kNotRecorded: the whole recording
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t lane = 0;  // that carries the mark
};

// By start. A recording without marks is one step from its first event to its last; a recording
// without events has none.
std::vector<MarkedStep> marked_steps(const RecordedTrace& trace);

}  // namespace orrery
