#include "replay/device_work.h"

#include <algorithm>
#include <unordered_map>

#include "replay/run_graph.h"

namespace orrery {
namespace {

constexpr std::int64_t kShortestLaunchNs = 4'000;
constexpr std::int64_t kToleranceNs = 2'000;
// A call cannot launch what began longer before it: then the number was used twice.
constexpr std::int64_t kLargestClockErrorNs = 1'000'000;

std::int64_t clock_correction(std::vector<std::int64_t>& latencies) {
  if (latencies.empty()) return 0;
  const auto hundredth = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 100);
  std::nth_element(latencies.begin(), hundredth, latencies.end());
  return std::max<std::int64_t>(0, kShortestLaunchNs - *hundredth);
}

}  // namespace

std::uint32_t LaunchedWork::last_launched(const RecordedTrace& trace, std::uint32_t lane,
                                          std::int64_t before_ns) const {
  const std::vector<Launch>& list = launches[lane];
  const auto after = std::ranges::lower_bound(
      list, before_ns, {}, [&](const Launch& launch) { return trace.start_ns[launch.call]; });
  return after == list.begin() ? kNoEvent : std::prev(after)->work;
}

std::uint32_t LaunchedWork::just_ended(const RecordedTrace& trace, std::uint32_t lane,
                                       std::int64_t time_ns) const {
  std::uint32_t best = kNoEvent;
  for (std::uint32_t other = 0; other < streams.size(); ++other) {
    if (other == lane || trace.lanes[other].process != trace.lanes[lane].process) continue;
    const std::vector<std::uint32_t>& stream = streams[other];
    const auto after = std::ranges::upper_bound(stream, time_ns + kToleranceNs, {},
                                                [&](std::uint32_t e) { return trace.end_ns(e); });
    if (after == stream.begin()) continue;
    const std::uint32_t e = *std::prev(after);
    if (time_ns - trace.end_ns(e) > kSoonAfterNs) continue;
    if (best == kNoEvent || trace.end_ns(e) > trace.end_ns(best)) best = e;
  }
  return best;
}

LaunchedWork device_work(const RecordedTrace& trace, const std::vector<HostThread>& threads) {
  LaunchedWork work;
  work.launch_of.assign(trace.size(), kNoEvent);
  work.first_work.assign(trace.size(), kNoEvent);
  work.of = work_kinds(trace);
  work.streams.resize(trace.lanes.size());
  work.launches.resize(trace.lanes.size());
  std::unordered_map<std::int64_t, std::uint32_t> calls;
  std::vector<std::int64_t> latencies;
  for (const HostThread& thread : threads) {
    calls.reserve(calls.size() + thread.calls.size());
    for (const std::uint32_t call : thread.calls) {
      if (trace.correlation[call] != kNotRecorded) calls.emplace(trace.correlation[call], call);
    }
  }
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e])) continue;
    work.streams[trace.lane[e]].push_back(e);
    const auto call = calls.find(trace.correlation[e]);
    if (call == calls.end()) continue;
    const std::int64_t latency = trace.start_ns[e] - trace.start_ns[call->second];
    if (latency < -kLargestClockErrorNs) continue;
    latencies.push_back(latency);
    work.launch_of[e] = call->second;
    if (work.first_work[call->second] == kNoEvent) work.first_work[call->second] = e;
    work.launches[trace.lane[e]].push_back({call->second, e});
  }
  work.clock_ns = clock_correction(latencies);
  for (auto& launches : work.launches) {
    std::ranges::stable_sort(launches, [&](const Launch& a, const Launch& b) {
      return trace.start_ns[a.call] < trace.start_ns[b.call];
    });
  }
  return work;
}

}  // namespace orrery
