// A recorded run written by hand, for tests: events are added in order of their start.
#pragma once

#include <string_view>

#include "trace/recorded_trace.h"

namespace orrery {

class HandMadeTrace {
 public:
  HandMadeTrace() {
    trace.lanes.push_back({.process = 1, .thread = 1, .process_name = {}, .thread_name = {}});
  }

  // A host thread is lane 0; a stream is added on first use.
  std::uint32_t stream(std::int64_t number) {
    for (std::uint32_t lane = 0; lane < trace.lanes.size(); ++lane) {
      if (trace.lanes[lane].device && trace.lanes[lane].thread == number) return lane;
    }
    trace.lanes.push_back(
        {.device = true, .thread = number, .process_name = {}, .thread_name = {}});
    return static_cast<std::uint32_t>(trace.lanes.size() - 1);
  }

  std::uint32_t add(EventKind kind, std::string_view name, std::uint32_t lane, std::int64_t start,
                    std::int64_t end, std::int64_t correlation = kNotRecorded) {
    const std::uint32_t event = trace.append(kind, name, lane, start, end - start);
    trace.correlation[event] = correlation;
    return event;
  }
  std::uint32_t step(int number, std::int64_t start, std::int64_t end) {
    return add(EventKind::annotation, "ProfilerStep#" + std::to_string(number), 0, start, end);
  }
  std::uint32_t op(std::string_view name, std::int64_t start, std::int64_t end) {
    return add(EventKind::cpu_operator, name, 0, start, end);
  }
  std::uint32_t call(std::int64_t start, std::int64_t end, std::int64_t correlation,
                     std::string_view name = "cudaLaunchKernel") {
    return add(EventKind::runtime_call, name, 0, start, end, correlation);
  }
  std::uint32_t kernel(std::string_view name, std::int64_t on, std::int64_t start, std::int64_t end,
                       std::int64_t correlation) {
    return add(EventKind::kernel, name, stream(on), start, end, correlation);
  }

  RecordedTrace trace;
};

inline double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

}  // namespace orrery
