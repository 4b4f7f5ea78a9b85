#include "analyze/device_work.h"

#include <algorithm>

namespace orrery {

std::vector<WorkKind> work_kinds(const RecordedTrace& trace) {
  enum class Known : std::uint8_t { not_yet, computes, communicates };
  std::vector<Known> names(trace.texts.size(), Known::not_yet);
  std::vector<WorkKind> kinds(trace.size(), WorkKind::none);
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] == EventKind::copy) kinds[e] = WorkKind::copy;
    if (trace.kind[e] == EventKind::fill) kinds[e] = WorkKind::fill;
    if (trace.kind[e] != EventKind::kernel) continue;
    Known& known = names[trace.name[e]];
    if (known == Known::not_yet) {
      known = is_communication_kernel(trace.name_of(e)) ? Known::communicates : Known::computes;
    }
    kinds[e] = known == Known::communicates ? WorkKind::communication : WorkKind::compute;
  }
  return kinds;
}

DeviceWork device_work(const RecordedTrace& trace, const std::vector<WorkKind>& kinds) {
  DeviceWork work;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] == WorkKind::none) continue;
    const Interval span = {trace.start_ns[e], trace.end_ns(e)};
    switch (kinds[e]) {
      case WorkKind::compute:
        add_by_start(work.compute, span);
        break;
      case WorkKind::communication:
        add_by_start(work.communication, span);
        break;
      case WorkKind::copy:
        add_by_start(work.copies, span);
        break;
      case WorkKind::fill:
        add_by_start(work.fills, span);
        break;
      case WorkKind::none:
        break;
    }
  }
  return work;
}

DeviceWork clipped(const DeviceWork& work, Interval window) {
  // Recordings have many steps: each looks at its own part of the set alone.
  const auto part = [&](const Intervals& set) {
    Intervals inside;
    auto it = std::partition_point(set.begin(), set.end(),
                                   [&](Interval i) { return i.end <= window.start; });
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
