#include "analyze/idle_time.h"

#include <algorithm>

namespace orrery {
namespace {

DeviceIdleCause cause_of(const RecordedTrace& trace, const Launches& started, const Gap& gap,
                         std::int64_t consecutive_gap_ns) {
  const std::uint32_t call = started.call[gap.ended_by];
  if (call != kNoEvent && trace.start_ns[call] > gap.span.start) return DeviceIdleCause::host_wait;
  if (gap.span.end - gap.span.start < consecutive_gap_ns) return DeviceIdleCause::kernel_wait;
  return DeviceIdleCause::other;
}

}  // namespace

std::vector<Gap> gaps(const RecordedTrace& trace, const Launches& started,
                      const std::vector<std::uint32_t>& work, std::int64_t consecutive_gap_ns) {
  std::vector<Gap> found;
  std::int64_t until = kAllTime.start;
  for (const std::uint32_t e : work) {
    if (trace.start_ns[e] > until) {
      Gap gap = {.span = {until, trace.start_ns[e]}, .ended_by = e};
      gap.cause = cause_of(trace, started, gap, consecutive_gap_ns);
      found.push_back(gap);
    }
    until = std::max(until, trace.end_ns(e));
  }
  found.push_back({.span = {until, kAllTime.end}, .cause = DeviceIdleCause::host_wait});
  return found;
}

DeviceIdleTime idle_time(const std::vector<Gap>& gaps, Interval window) {
  DeviceIdleTime idle;
  auto it = std::partition_point(gaps.begin(), gaps.end(),
                                 [&](const Gap& gap) { return gap.span.end <= window.start; });
  for (; it != gaps.end() && it->span.start < window.end; ++it) {
    const std::int64_t ns =
        std::min(window.end, it->span.end) - std::max(window.start, it->span.start);
    switch (it->cause) {
      case DeviceIdleCause::host_wait:
        idle.host_wait_ns += ns;
        break;
      case DeviceIdleCause::kernel_wait:
        idle.kernel_wait_ns += ns;
        break;
      case DeviceIdleCause::other:
        idle.other_ns += ns;
        break;
    }
  }
  return idle;
}

}  // namespace orrery
