#include "analyze/device_lag.h"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

struct LaunchedRun {
  Interval ran;
  std::int64_t launched_ns = 0;
};

constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();

// Of every lane, the first event of its launched work; kNoEvent: no launch of its work is recorded.
std::vector<std::uint32_t> first_launched(const RecordedTrace& trace, const LaunchLinks& links) {
  std::vector<std::uint32_t> first(trace.lanes.size(), kNoEvent);
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e]) || links.call[e] == kNoEvent) continue;
    std::uint32_t& of_lane = first[trace.lane[e]];
    if (of_lane == kNoEvent) of_lane = e;
  }
  return first;
}

// By start. What was launched nobody knows when is left out.
std::vector<LaunchedRun> work_of(const RecordedTrace& trace, const LaunchLinks& links) {
  const std::vector<std::uint32_t> first = first_launched(trace, links);
  std::vector<LaunchedRun> known;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e])) continue;
    const std::uint32_t call = links.call[e];
    const std::uint32_t launched = first[trace.lane[e]];
    if (call == kNoEvent && (launched == kNoEvent || e > launched)) continue;
    known.push_back({{trace.start_ns[e], trace.end_ns(e)},
                     call == kNoEvent ? kBeforeAll : trace.start_ns[call]});
  }
  return known;
}

}  // namespace

std::vector<DeviceLag> device_lags(const RecordedTrace& trace, const LaunchLinks& links,
                                   std::span<const Interval> windows) {
  std::vector<DeviceLag> lags(windows.size());
  if (windows.empty()) return lags;
  const std::vector<LaunchedRun> work = work_of(trace, links);
  std::vector<std::int64_t> ended_by(work.size());  // the latest end up to a piece of work
  std::int64_t latest = kBeforeAll;
  for (std::size_t i = 0; i < work.size(); ++i) {
    latest = std::max(latest, work[i].ran.end);
    ended_by[i] = latest;
  }
  std::vector<LaunchedRun> by_launch = work;
  std::ranges::sort(by_launch, [](const LaunchedRun& a, const LaunchedRun& b) {
    return a.launched_ns != b.launched_ns ? a.launched_ns < b.launched_ns : a.ran.end < b.ran.end;
  });
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const Interval window = windows[w];
    Intervals busy;
    Intervals earlier;
    const auto first = std::upper_bound(ended_by.begin(), ended_by.end(), window.start);
    for (auto i = static_cast<std::size_t>(first - ended_by.begin());
         i < work.size() && work[i].ran.start < window.end; ++i) {
      const Interval clipped = {std::max(work[i].ran.start, window.start),
                                std::min(work[i].ran.end, window.end)};
      add_by_start(busy, clipped);
      if (work[i].launched_ns < window.start) add_by_start(earlier, clipped);
    }
    lags[w].known = !work.empty();
    lags[w].busy_ns = length(busy);
    lags[w].earlier_ns = length(earlier);
    auto own = std::ranges::lower_bound(by_launch, window.start, {}, &LaunchedRun::launched_ns);
    for (; own != by_launch.end() && own->launched_ns < window.end; ++own) {
      lags[w].behind_ns = std::max(lags[w].behind_ns, own->ran.end - window.end);
    }
  }
  return lags;
}

}  // namespace orrery
