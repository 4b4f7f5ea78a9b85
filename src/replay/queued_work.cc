#include "replay/queued_work.h"

#include <algorithm>

#include "replay/run_graph.h"

namespace orrery {
namespace {

constexpr std::int64_t kSoonAfterNs = 20'000;
// Whole microseconds in older recordings.
constexpr std::int64_t kToleranceNs = 2'000;

// The work of other streams of the device that ended last before a time, and soon before; kNoEvent.
std::uint32_t just_ended(const RecordedTrace& trace, const LaunchedWork& work, std::uint32_t lane,
                         std::int64_t time_ns) {
  std::uint32_t best = kNoEvent;
  for (std::uint32_t other = 0; other < work.streams.size(); ++other) {
    if (other == lane || trace.lanes[other].process != trace.lanes[lane].process) continue;
    const std::vector<std::uint32_t>& stream = work.streams[other];
    const auto after = std::upper_bound(
        stream.begin(), stream.end(), time_ns + kToleranceNs,
        [&](std::int64_t time, std::uint32_t e) { return time < trace.end_ns(e); });
    if (after == stream.begin()) continue;
    const std::uint32_t e = *std::prev(after);
    if (time_ns - trace.end_ns(e) > kSoonAfterNs) continue;
    if (best == kNoEvent || trace.end_ns(e) > trace.end_ns(best)) best = e;
  }
  return best;
}

}  // namespace

QueuedWork queued_work(const RecordedTrace& trace, const LaunchedWork& work) {
  QueuedWork queued;
  queued.placed.assign(trace.size(), false);
  for (std::uint32_t lane = 0; lane < work.streams.size(); ++lane) {
    const std::vector<std::uint32_t>& stream = work.streams[lane];
    bool launched_before = false;
    std::int64_t free_ns = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const std::uint32_t e = stream[i];
      const std::int64_t start = trace.start_ns[e];
      const std::int64_t pause = start - free_ns;
      free_ns = i == 0 ? trace.end_ns(e) : std::max(free_ns, trace.end_ns(e));
      if (work.launch_of[e] != kNoEvent) {
        launched_before = true;
        continue;
      }
      if (launched_before || i == 0) {
        queued.placed[e] = true;
        continue;
      }
      if (pause <= kSoonAfterNs) continue;
      const std::uint32_t awaited = just_ended(trace, work, lane, start);
      if (awaited == kNoEvent) {
        queued.placed[e] = true;
      } else {
        queued.waits.push_back({awaited, e});
      }
    }
  }
  std::sort(queued.waits.begin(), queued.waits.end(),
            [](const StreamWait& a, const StreamWait& b) { return a.to < b.to; });
  return queued;
}

}  // namespace orrery
