// What a recorded trace holds, counted: before anything is computed from it, a person wants to know
// whether it is the right file and whether what an analysis needs was recorded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/recorded_trace.h"
#include "units/quantity.h"

namespace orrery {

struct StepMark {
  std::string name;  // "ProfilerStep#5"
  Seconds start;     // since the first event
  Seconds duration;
};

struct TraceSummary {
  std::array<std::int64_t, kEventKinds> events{};  // by kind
  Seconds span;                                    // first start to last end, over all events
  std::vector<StepMark> steps;                     // by start
  std::int64_t threads = 0;
  std::int64_t devices = 0;               // with work
  std::int64_t streams = 0;               // with work
  std::string device;                     // its name; empty if not recorded
  std::int64_t device_work = 0;           // kernels, copies, fills
  std::int64_t device_work_launched = 0;  // of those, with their launch call in the file
  std::int64_t communication_kernels = 0;
  std::int64_t described_kernels = 0;  // of those, with collective, size and group
  std::int64_t operators = 0;
  std::int64_t operators_with_shapes = 0;
};

// O(n) but for the launch calls, which are sorted.
TraceSummary summary(const RecordedTrace& trace);

}  // namespace orrery
