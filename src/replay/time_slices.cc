#include "replay/time_slices.h"

#include <algorithm>

#include "replay/host_segments.h"
#include "replay/run_graph.h"

namespace orrery {
namespace {

constexpr std::size_t kEnough = 8;
constexpr std::int64_t kShortestSliceNs = 500'000;
constexpr std::int64_t kSlowLaunchNs = 200'000;

struct Quartiles {
  std::int64_t low = 0;
  std::int64_t middle = 0;
  std::int64_t high = 0;
};

Quartiles quartiles(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return {values[n / 4], values[n / 2], values[n - 1 - n / 4]};
}

}  // namespace

TimeSlices time_slices(const RecordedTrace& trace, const LaunchedWork& work) {
  std::vector<std::uint32_t> all;
  for (const auto& stream : work.streams) all.insert(all.end(), stream.begin(), stream.end());
  std::ranges::sort(all);  // events are sorted by start
  TimeSlices slices;
  std::vector<std::int64_t> pauses;
  std::vector<std::int64_t> latencies;
  std::uint32_t last = kNoEvent;
  for (const std::uint32_t e : all) {
    const std::uint32_t call = work.launch_of[e];
    if (last != kNoEvent && call != kNoEvent && trace.start_ns[call] > work.ended(trace, last)) {
      slices.resumed.push_back({last, e});
      pauses.push_back(trace.start_ns[e] - trace.end_ns(last));
      latencies.push_back(work.started(trace, e) - trace.end_ns(call));
    }
    if (last == kNoEvent || trace.end_ns(e) > trace.end_ns(last)) last = e;
  }
  if (pauses.size() < kEnough) return {};
  const Quartiles pause = quartiles(pauses);
  const Quartiles latency = quartiles(latencies);
  const std::int64_t tolerance = pause.middle / 10;
  if (pause.middle < kShortestSliceNs || latency.middle < kSlowLaunchNs ||
      pause.low < pause.middle - tolerance || pause.high > pause.middle + tolerance) {
    return {};
  }
  slices.slice_ns = pause.middle;
  // What came back much sooner found the other process gone.
  std::erase_if(slices.resumed, [&](const StreamWait& r) {
    return trace.start_ns[r.to] - trace.end_ns(r.from) < slices.slice_ns - tolerance;
  });
  return slices;
}

Intervals other_process_turns(const RecordedTrace& trace) {
  const LaunchedWork work = device_work(trace, host_threads(trace));
  Intervals turns;
  for (const StreamWait& resumed : time_slices(trace, work).resumed) {
    const std::int64_t launched = trace.end_ns(work.launch_of[resumed.to]) - work.clock_ns;
    add_by_start(turns,
                 {std::max(trace.end_ns(resumed.from), launched), trace.start_ns[resumed.to]});
  }
  return turns;
}

}  // namespace orrery
