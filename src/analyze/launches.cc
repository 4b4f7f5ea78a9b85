#include "analyze/launches.h"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

// Operators of one thread that overlap without nesting are rare accidents of clocks; more than this
// many at once are not looked through.
constexpr int kMostOverlapping = 16;

std::vector<std::uint32_t> enclosing_operators(const RecordedTrace& trace) {
  std::vector<std::uint32_t> enclosing(trace.size(), kNoEvent);
  // Operators that have begun and not ended, on each lane, outermost first.
  std::vector<std::vector<std::uint32_t>> open(trace.lanes.size());
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.lanes[trace.lane[e]].device) continue;
    std::vector<std::uint32_t>& stack = open[trace.lane[e]];
    while (!stack.empty() && trace.end_ns(stack.back()) <= trace.start_ns[e] &&
           trace.start_ns[stack.back()] < trace.start_ns[e]) {
      stack.pop_back();
    }
    // One that ends within the event overlaps it and does not enclose it.
    int looked_at = 0;
    for (auto it = stack.rbegin(); it != stack.rend() && looked_at < kMostOverlapping; ++it) {
      ++looked_at;
      if (trace.end_ns(*it) < trace.end_ns(e)) continue;
      enclosing[e] = *it;
      break;
    }
    if (trace.kind[e] == EventKind::cpu_operator) stack.push_back(e);
  }
  return enclosing;
}

std::vector<std::uint32_t> launch_calls(const RecordedTrace& trace) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> calls;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] == EventKind::runtime_call && trace.correlation[e] != kNotRecorded) {
      calls.emplace_back(trace.correlation[e], e);
    }
  }
  std::sort(calls.begin(), calls.end());
  std::vector<std::uint32_t> call(trace.size(), kNoEvent);
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    const bool launched = is_device_work(trace.kind[e]) ||
                          trace.kind[e] == EventKind::synchronization ||
                          trace.kind[e] == EventKind::event_record;
    if (!launched || trace.correlation[e] == kNotRecorded) continue;
    const auto it =
        std::lower_bound(calls.begin(), calls.end(), std::pair(trace.correlation[e], 0U));
    if (it != calls.end() && it->first == trace.correlation[e]) call[e] = it->second;
  }
  return call;
}

}  // namespace

Launches launches(const RecordedTrace& trace) {
  return {.enclosing_operator = enclosing_operators(trace), .call = launch_calls(trace)};
}

}  // namespace orrery
