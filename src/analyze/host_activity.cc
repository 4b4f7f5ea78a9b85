#include "analyze/host_activity.h"

#include <algorithm>
#include <numeric>

#include "trace/data_loading.h"

namespace orrery {
namespace {

std::vector<bool> launching_lanes(const RecordedTrace& trace, const LaunchLinks& links) {
  std::vector<bool> launching(trace.lanes.size(), false);
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (is_device_work(trace.kind[e]) && links.call[e] != kNoEvent) {
      launching[trace.lane[links.call[e]]] = true;
    }
  }
  return launching;
}

HostActivity activity_of_call(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("Synchronize")) return HostActivity::synchronizing;
  if (has("Malloc") || has("Free") || has("Alloc")) return HostActivity::allocating;
  return HostActivity::calling;
}

using Sets = std::array<Intervals, kHostActivities>;

Sets activities(const RecordedTrace& trace, const std::vector<bool>& launching) {
  Sets sets;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    const Interval span = {trace.start_ns[e], trace.end_ns(e)};
    HostActivity activity = HostActivity::elsewhere;
    if (is_data_loading(trace, e)) {
      activity = HostActivity::data_loading;
    } else if (launching[trace.lane[e]] && trace.kind[e] == EventKind::runtime_call) {
      activity = activity_of_call(trace.name_of(e));
    } else if (launching[trace.lane[e]] && trace.kind[e] == EventKind::cpu_operator) {
      activity = HostActivity::operators;
    } else {
      continue;
    }
    add_by_start(sets[static_cast<std::size_t>(activity)], span);
  }
  return sets;
}

}  // namespace

std::int64_t HostTime::total_ns() const {
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0});
}

HostActivity HostTime::main() const {
  return static_cast<HostActivity>(std::ranges::max_element(ns) - ns.begin());
}

HostTime host_activity(const RecordedTrace& trace, const LaunchLinks& links,
                       const std::vector<Gap>& gaps, const Intervals& windows) {
  Intervals left;
  for (const Gap& gap : gaps) {
    if (gap.cause == GapCause::host_wait) add_by_start(left, gap.span);
  }
  left = intersection(left, windows);
  HostTime time;
  if (left.empty()) return time;
  const Sets sets = activities(trace, launching_lanes(trace, links));
  for (std::size_t a = 0; a + 1 < kHostActivities; ++a) {
    time.ns[a] = length(intersection(left, sets[a]));
    left = difference(left, sets[a]);
  }
  time.ns[static_cast<std::size_t>(HostActivity::elsewhere)] = length(left);
  return time;
}

std::string_view in_words(HostActivity activity) {
  switch (activity) {
    case HostActivity::data_loading:
      return "loading data";
    case HostActivity::synchronizing:
      return "in synchronizing calls";
    case HostActivity::allocating:
      return "allocating or freeing memory";
    case HostActivity::calling:
      return "in launches and other calls";
    case HostActivity::operators:
      return "in operators";
    case HostActivity::elsewhere:
      return "outside of operators";
  }
  return "";
}

}  // namespace orrery
