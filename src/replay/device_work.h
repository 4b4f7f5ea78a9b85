// The device side of a recording: the work (kernels, copies and fills) of each stream, the calls
// that launched it, and its order.
//
// A launch call and its work share a correlation; a graph launch starts many pieces of work. Work
// of a stream is ordered by its start.
//
// The profiler fits the device's clock to the host's, with an error of up to a tenth of a
// millisecond: in some recordings, work starts before the call that launched it. `clock_ns`
// moves the device's clock so that nearly all work (99 of 100; the error drifts) starts 4 us and
// more after its call began, the shortest launches of current hosts. It is 0 where that holds
// already. O(events log events).
#pragma once

#include <cstdint>
#include <vector>

#include "replay/host_segments.h"
#include "trace/recorded_trace.h"
#include "trace/work_kind.h"

namespace orrery {

// Work that was waiting for something starts within this time after it ends.
inline constexpr std::int64_t kSoonAfterNs = 20'000;

struct Launch {
  std::uint32_t call = 0;  // event
  std::uint32_t work = 0;  // event
};

struct LaunchedWork {
  // Of every event: the call that launched it; kNoEvent if it is not work or was launched outside
  // the recording.
  std::vector<std::uint32_t> launch_of;
  // Of every event: the first work a call launched; kNoEvent.
  std::vector<std::uint32_t> first_work;
  // Of every event that is work.
  std::vector<WorkKind> of;
  // Of every lane: its work by start.
  std::vector<std::vector<std::uint32_t>> streams;
  // Of every lane: what was launched on it, by start of the call.
  std::vector<std::vector<Launch>> launches;

  std::int64_t clock_ns = 0;

  // On the host's clock.
  [[nodiscard]] std::int64_t started(const RecordedTrace& trace, std::uint32_t work) const {
    return trace.start_ns[work] + clock_ns;
  }
  [[nodiscard]] std::int64_t ended(const RecordedTrace& trace, std::uint32_t work) const {
    return trace.end_ns(work) + clock_ns;
  }
  // The last work launched on a lane by calls that began before a time; kNoEvent.
  [[nodiscard]] std::uint32_t last_launched(const RecordedTrace& trace, std::uint32_t lane,
                                            std::int64_t before_ns) const;
  // The work of other lanes of the device that ended last by a time and at most 20 us before it, to
  // 2 us (older recordings hold whole microseconds); kNoEvent.
  [[nodiscard]] std::uint32_t just_ended(const RecordedTrace& trace, std::uint32_t lane,
                                         std::int64_t time_ns) const;
};

LaunchedWork device_work(const RecordedTrace& trace, const std::vector<HostThread>& threads);

}  // namespace orrery
