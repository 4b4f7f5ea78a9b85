#include "analyze/launch_statistics.h"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

struct GatheredLaunches {
  std::vector<std::int64_t> calls;
  std::vector<std::int64_t> delays;
  std::vector<std::int64_t> work;
};

LaunchRow row_of(std::uint32_t name, GatheredLaunches gathered) {
  LaunchRow row = {.name = name};
  for (std::size_t i = 0; i < gathered.calls.size(); ++i) {
    if (gathered.work[i] < gathered.calls[i]) ++row.shorter_than_call;
    if (gathered.calls[i] > kSlowCallNs) ++row.slow_calls;
    if (gathered.delays[i] > kLongDelayNs) ++row.long_delays;
  }
  row.call = spread_of(std::move(gathered.calls));
  row.delay = spread_of(std::move(gathered.delays));
  row.work = spread_of(std::move(gathered.work));
  return row;
}

// The longest, of equals the earliest.
void keep_longest(std::vector<LaunchOutlier>& outliers) {
  const std::size_t kept = std::min(outliers.size(), kMostOutliers);
  std::partial_sort(outliers.begin(), outliers.begin() + static_cast<std::ptrdiff_t>(kept),
                    outliers.end(), [](const LaunchOutlier& a, const LaunchOutlier& b) {
                      return a.ns != b.ns ? a.ns > b.ns : a.work < b.work;
                    });
  outliers.resize(kept);
}

}  // namespace

LaunchStatistics launch_statistics(const RecordedTrace& trace, const LaunchLinks& links,
                                   const std::vector<WorkKind>& kinds) {
  LaunchStatistics statistics;
  std::map<std::uint32_t, GatheredLaunches> by_name;
  GatheredLaunches all;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] == WorkKind::none) continue;
    const std::uint32_t call = links.call[e];
    if (call == kNoEvent) {
      ++statistics.without_call;
      continue;
    }
    const std::int64_t delay = std::max<std::int64_t>(0, trace.start_ns[e] - trace.end_ns(call));
    if (trace.duration_ns[call] > kSlowCallNs) {
      statistics.slow_calls.push_back(
          {.call = call, .work = e, .caller = links.operator_of(e), .ns = trace.duration_ns[call]});
    }
    if (delay > kLongDelayNs) {
      statistics.long_delays.push_back(
          {.call = call, .work = e, .caller = links.operator_of(e), .ns = delay});
    }
    for (GatheredLaunches* into : {&by_name[trace.name[call]], &all}) {
      into->calls.push_back(trace.duration_ns[call]);
      into->delays.push_back(delay);
      into->work.push_back(trace.duration_ns[e]);
    }
  }
  for (auto& [name, gathered] : by_name) {
    statistics.rows.push_back(row_of(name, std::move(gathered)));
  }
  std::ranges::sort(statistics.rows, [&](const LaunchRow& a, const LaunchRow& b) {
    if (a.call.count != b.call.count) return a.call.count > b.call.count;
    return trace.texts[a.name] < trace.texts[b.name];
  });
  keep_longest(statistics.slow_calls);
  keep_longest(statistics.long_delays);
  statistics.all = row_of(0, std::move(all));
  return statistics;
}

}  // namespace orrery
