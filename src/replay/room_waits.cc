#include "replay/room_waits.h"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr std::int64_t kLateNs = 50'000;
constexpr std::int64_t kJustEndedNs = 20'000;
// The last blocks of a kernel start in the last fifth of its run: in the recordings of torchrec,
// what a full kernel held back began at 0.8 to 1.0 of its run.
constexpr std::int64_t kLastPart = 5;

// The computing kernel of a stream that runs at a moment or has just ended; kNoEvent.
std::uint32_t running_at(const RecordedTrace& trace, const LaunchedWork& work, std::uint32_t lane,
                         std::int64_t time_ns) {
  const std::vector<std::uint32_t>& stream = work.streams[lane];
  const auto after = std::ranges::lower_bound(stream, time_ns, {},
                                              [&](std::uint32_t e) { return trace.start_ns[e]; });
  if (after == stream.begin()) return kNoEvent;
  const std::uint32_t e = *std::prev(after);
  const bool computes = work.of[e] == WorkKind::compute;
  return computes && trace.end_ns(e) + kJustEndedNs >= time_ns ? e : kNoEvent;
}

}  // namespace

std::vector<StreamWait> room_waits(const RecordedTrace& trace, const LaunchedWork& work,
                                   const DeviceWaits& waits, const LaunchParameters& parameters) {
  std::vector<StreamWait> result;
  for (std::uint32_t lane = 0; lane < work.streams.size(); ++lane) {
    std::int64_t stream_free = std::numeric_limits<std::int64_t>::min();
    for (const std::uint32_t e : work.streams[lane]) {
      const auto c = static_cast<std::size_t>(work.of[e]);
      const std::uint32_t call = work.launch_of[e];
      const std::int64_t start = trace.start_ns[e];
      std::int64_t ready = stream_free;
      stream_free = std::max(stream_free, trace.end_ns(e) + parameters.dispatch_ns[c]);
      if (call == kNoEvent || work.of[e] == WorkKind::copy) continue;
      ready =
          std::max(ready, trace.start_ns[call] - work.clock_ns +
                              parameters.after_call_begins(work.of[e], trace.duration_ns[call]));
      for (const StreamWait& w : std::ranges::equal_range(waits.streams, e, {}, &StreamWait::to)) {
        ready = std::max(ready, trace.end_ns(w.from) + parameters.wake_ns);
      }
      if (start - ready < kLateNs) continue;
      std::uint32_t holder = kNoEvent;
      for (std::uint32_t other = 0; other < work.streams.size(); ++other) {
        if (other == lane || trace.lanes[other].process != trace.lanes[lane].process) continue;
        const std::uint32_t runs = running_at(trace, work, other, start);
        if (runs == kNoEvent) continue;
        if (holder == kNoEvent || trace.end_ns(runs) > trace.end_ns(holder)) holder = runs;
      }
      if (holder == kNoEvent) continue;
      if (trace.end_ns(holder) - start > trace.duration_ns[holder] / kLastPart) continue;
      result.push_back({holder, e});
    }
  }
  return result;
}

}  // namespace orrery
