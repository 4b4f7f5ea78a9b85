#include "trace/kineto/forward_arrows.h"

#include <algorithm>
#include <cstddef>

namespace orrery {

void join_arrows(RecordedTrace& trace, std::vector<ArrowEnd> ends) {
  const auto event_of = [&](const ArrowEnd& end) {
    const auto first = std::ranges::lower_bound(trace.start_ns, end.time_ns);
    for (auto it = first; it != trace.start_ns.end() && *it == end.time_ns; ++it) {
      const auto event = static_cast<std::size_t>(it - trace.start_ns.begin());
      if (trace.lane[event] == end.lane && trace.kind[event] == EventKind::cpu_operator &&
          trace.details[event] != kNoDetails &&
          trace.operators[trace.details[event]].sequence_number >= 0) {
        return static_cast<std::uint32_t>(event);
      }
    }
    return kNoDetails;
  };
  std::ranges::stable_sort(ends, [](const ArrowEnd& a, const ArrowEnd& b) {
    return a.id != b.id ? a.id < b.id : a.is_start > b.is_start;
  });
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    if (ends[i].id != ends[i + 1].id || !ends[i].is_start || ends[i + 1].is_start) continue;
    const std::uint32_t from = event_of(ends[i]);
    const std::uint32_t to = event_of(ends[i + 1]);
    if (from != kNoDetails && to != kNoDetails) trace.forward_to_backward.push_back({from, to});
  }
  std::ranges::sort(trace.forward_to_backward);
}

}  // namespace orrery
