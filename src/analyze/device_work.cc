#include "analyze/device_work.h"

#include <algorithm>

namespace orrery {

DeviceWork device_work(const RecordedTrace& trace, const std::vector<WorkKind>& kinds) {
  DeviceWork work;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] == WorkKind::none) continue;
    Intervals& of_kind = kinds[e] == WorkKind::compute         ? work.compute
                         : kinds[e] == WorkKind::communication ? work.communication
                         : kinds[e] == WorkKind::copy          ? work.copies
                                                               : work.fills;
    add_by_start(of_kind, {trace.start_ns[e], trace.end_ns(e)});
  }
  return work;
}

DeviceWork clipped(const DeviceWork& work, Interval window) {
  // Recordings have many steps: each looks at its own part of the set alone.
  const auto part = [&](const Intervals& set) {
    Intervals inside;
    auto it = std::ranges::partition_point(set, [&](Interval i) { return i.end <= window.start; });
    for (; it != set.end() && it->start < window.end; ++it) {
      add_by_start(inside, {std::max(it->start, window.start), std::min(it->end, window.end)});
    }
    return inside;
  };
  return {.compute = part(work.compute),
          .communication = part(work.communication),
          .copies = part(work.copies),
          .fills = part(work.fills)};
}

Interval device_span(const RecordedTrace& trace, const std::vector<WorkKind>& kinds) {
  Interval span;
  bool any = false;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] == WorkKind::none) continue;
    span.start = any ? std::min(span.start, trace.start_ns[e]) : trace.start_ns[e];
    span.end = any ? std::max(span.end, trace.end_ns(e)) : trace.end_ns(e);
    any = true;
  }
  return span;
}

}  // namespace orrery
