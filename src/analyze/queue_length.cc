#include "analyze/queue_length.h"

#include <algorithm>

namespace orrery {

std::vector<std::vector<QueueChange>> queue_lengths(const RecordedTrace& trace,
                                                    const LaunchLinks& links) {
  std::vector<std::vector<QueueChange>> lanes(trace.lanes.size());
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e]) || links.call[e] == kNoEvent) continue;
    std::vector<QueueChange>& changes = lanes[trace.lane[e]];
    changes.push_back(
        {.time_ns = trace.start_ns[links.call[e]], .event = links.call[e], .length = 1});
    changes.push_back({.time_ns = trace.start_ns[e], .event = e, .length = -1});
  }
  for (std::vector<QueueChange>& changes : lanes) {
    // A call comes before its work at one moment.
    std::ranges::sort(changes, [](const QueueChange& a, const QueueChange& b) {
      if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
      if (a.length != b.length) return a.length > b.length;
      return a.event < b.event;
    });
    std::int64_t length = 0;
    for (QueueChange& change : changes) {
      length += change.length;
      // Work that starts before its launch, by clocks that differ, is in no queue.
      change.length = std::max<std::int64_t>(length, 0);
    }
  }
  return lanes;
}

QueueSummary summary_of(const std::vector<QueueChange>& changes) {
  QueueSummary summary;
  if (changes.empty()) return summary;
  double entries_ns = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    summary.longest = std::max(summary.longest, changes[i].length);
    if (i + 1 == changes.size()) break;
    const std::int64_t ns = changes[i + 1].time_ns - changes[i].time_ns;
    entries_ns += static_cast<double>(changes[i].length) * static_cast<double>(ns);
    if (changes[i].length >= kFullQueue) summary.full_ns += ns;
    if (changes[i].length <= 0) summary.empty_ns += ns;
  }
  summary.span_ns = changes.back().time_ns - changes.front().time_ns;
  if (summary.span_ns > 0) summary.mean = entries_ns / static_cast<double>(summary.span_ns);
  return summary;
}

QueueSeries series_of(const std::vector<QueueChange>& changes, Interval window) {
  QueueSeries series = {.window = window};
  const std::int64_t span = window.end - window.start;
  if (span <= 0 || changes.empty()) return series;
  series.bin_ns = (span + kMostQueueBins - 1) / kMostQueueBins;
  const std::int64_t bins = (span + series.bin_ns - 1) / series.bin_ns;
  series.longest.assign(static_cast<std::size_t>(bins), 0);
  const auto raise = [&](std::int64_t from, std::int64_t to, std::int64_t length) {
    from = std::max(from, window.start);
    to = std::min(to, window.end);
    if (from > to || from >= window.end) return;
    const std::int64_t last = std::max(from, to - 1);
    for (std::int64_t b = (from - window.start) / series.bin_ns;
         b <= (last - window.start) / series.bin_ns; ++b) {
      std::int64_t& longest = series.longest[static_cast<std::size_t>(b)];
      longest = std::max(longest, length);
    }
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::int64_t until = i + 1 < changes.size() ? changes[i + 1].time_ns : window.end;
    raise(changes[i].time_ns, until, changes[i].length);
  }
  return series;
}

}  // namespace orrery
