// The threads of a recording, flattened: calls of the runtime and the stretches between boundaries.
//
// A thread's operators nest. Between two neighbouring boundaries (starts and ends of operators,
// annotations and calls) exactly one thing happens: a call runs, the innermost operator runs its
// own code, or nothing is open. Each such stretch is a segment; they cover the thread's recording
// without gap or overlap. A call inside a call belongs to the outer one. Events of the profiler
// itself and of Python are no boundaries. O(events log events).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct HostSegment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t event = 0xffffffff;  // the call, or the innermost open event; none: 0xffffffff
  bool call = false;
  bool idle = false;   // no operator and no call is open, though an annotation may be
  bool waits = false;  // idle because it waits for another thread: replay/thread_waits.h
};

struct HostThread {
  std::uint32_t lane = 0;
  std::vector<HostSegment> segments;  // ascending, adjacent
  std::vector<std::uint32_t> calls;   // of the runtime, outermost, ascending

  // The segment that ends at or before a time, the last of them; none: segments.size().
  [[nodiscard]] std::size_t last_ended_by(std::int64_t time_ns) const;
};

// Threads with operators, annotations or launches, in order of their lanes. A thread that only
// polls (NCCL's watchdog) has no influence and is left out.
std::vector<HostThread> host_threads(const RecordedTrace& trace);

// The index in `threads` of the thread that has the marks of steps, otherwise of the busiest one.
std::size_t main_thread(const RecordedTrace& trace, const std::vector<HostThread>& threads);

}  // namespace orrery
