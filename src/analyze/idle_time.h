// Why a device or a stream was idle.
//
// A gap lasts from the end of all earlier work to the start of the next. The next work determines
// its cause:
//
//   host wait    its launch call began after the gap had begun: the device waited for the host
//   kernel wait  the gap is shorter than the usual distance of two kernels
//   other        the work was launched in time and waited for another stream, or its launch was
//                still in progress, or its launch is not in the recording
//
// The time slices of another process on a shared device (replay/time_slices.h) are part of host
// waits by this definition, but are also counted separately: the work was launched, but the device
// was in use.
//
// A gap with no work after it belongs to the host. The whole gap goes to one cause; a gap that a
// window cuts keeps the cause it has as a whole.
//
// Source: facebookresearch/HolisticTraceAnalysis f4d0062 (idle time analysis), whose 30 ns are the
// usual distance. The source does this for single streams, Orrery also for the whole device.
// O(events).
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/device_work.h"
#include "timeline/intervals.h"
#include "trace/launch_links.h"

namespace orrery {

inline constexpr std::int64_t kConsecutiveKernelGapNs = 30;

struct DeviceIdle {
  std::int64_t host_wait_ns = 0;
  std::int64_t kernel_wait_ns = 0;
  std::int64_t other_ns = 0;
  std::int64_t other_process_ns = 0;  // of host_wait_ns: another process had the device

  // The part caused by this process's host.
  [[nodiscard]] std::int64_t own_host_wait_ns() const { return host_wait_ns - other_process_ns; }
  [[nodiscard]] std::int64_t total_ns() const { return host_wait_ns + kernel_wait_ns + other_ns; }
  bool operator==(const DeviceIdle&) const = default;
};

enum class GapCause : std::uint8_t { host_wait, kernel_wait, other };

struct Gap {
  Interval span = {};
  GapCause cause = GapCause::other;
  std::uint32_t ended_by = kNoEvent;  // the next work; kNoEvent: none
};

// All gaps of all time, before the first work and after the last one too (which reach to kAllTime).
// `work` are device events by start.
std::vector<Gap> gaps(const RecordedTrace& trace, const LaunchLinks& links,
                      const std::vector<std::uint32_t>& work,
                      std::int64_t consecutive_gap_ns = kConsecutiveKernelGapNs);

// Idle time within a window; `other_process` are the turns of another process, by start.
// O((gaps + turns) in the window + log gaps).
DeviceIdle idle_time(const std::vector<Gap>& gaps, Interval window,
                     const Intervals& other_process = {});

}  // namespace orrery
