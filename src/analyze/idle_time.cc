#include "analyze/idle_time.h"

#include <algorithm>

namespace orrery {
namespace {

GapCause cause_of(const RecordedTrace& trace, const LaunchLinks& links, const Gap& gap,
                  std::int64_t consecutive_gap_ns) {
  const std::uint32_t call = links.call[gap.ended_by];
  if (call != kNoEvent && trace.start_ns[call] > gap.span.start) return GapCause::host_wait;
  if (gap.span.end - gap.span.start < consecutive_gap_ns) return GapCause::kernel_wait;
  return GapCause::other;
}

}  // namespace

std::vector<Gap> gaps(const RecordedTrace& trace, const LaunchLinks& links,
                      const std::vector<std::uint32_t>& work, std::int64_t consecutive_gap_ns) {
  std::vector<Gap> found;
  std::int64_t until = kAllTime.start;
  for (const std::uint32_t e : work) {
    if (trace.start_ns[e] > until) {
      Gap gap = {.span = {until, trace.start_ns[e]}, .ended_by = e};
      gap.cause = cause_of(trace, links, gap, consecutive_gap_ns);
      found.push_back(gap);
    }
    until = std::max(until, trace.end_ns(e));
  }
  found.push_back({.span = {until, kAllTime.end}, .cause = GapCause::host_wait});
  return found;
}

DeviceIdle idle_time(const std::vector<Gap>& gaps, Interval window,
                     const Intervals& other_process) {
  DeviceIdle idle;
  Intervals host_waits;
  auto it = std::ranges::partition_point(
      gaps, [&](const Gap& gap) { return gap.span.end <= window.start; });
  for (; it != gaps.end() && it->span.start < window.end; ++it) {
    const std::int64_t ns =
        std::min(window.end, it->span.end) - std::max(window.start, it->span.start);
    switch (it->cause) {
      case GapCause::host_wait:
        idle.host_wait_ns += ns;
        add_by_start(host_waits,
                     {std::max(window.start, it->span.start), std::min(window.end, it->span.end)});
        break;
      case GapCause::kernel_wait:
        idle.kernel_wait_ns += ns;
        break;
      case GapCause::other:
        idle.other_ns += ns;
        break;
    }
  }
  idle.other_process_ns = length(intersection(host_waits, other_process));
  return idle;
}

}  // namespace orrery
