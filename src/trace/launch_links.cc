#include "trace/launch_links.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

namespace orrery {
namespace {

void link_operators(const RecordedTrace& trace, LaunchLinks& links) {
  // Operators that have begun on each lane, outermost first; none ends after the one before it.
  std::vector<std::vector<std::uint32_t>> open(trace.lanes.size());
  for (std::uint32_t event = 0; event < trace.size(); ++event) {
    if (trace.lanes[trace.lane[event]].device) continue;
    auto& stack = open[trace.lane[event]];
    const std::int64_t start = trace.start_ns[event];
    const std::int64_t end = trace.end_ns(event);
    // One without duration lasts for the events that begin with it.
    while (!stack.empty() && trace.end_ns(stack.back()) <= start &&
           trace.start_ns[stack.back()] < start) {
      stack.pop_back();
    }
    const auto covering = std::ranges::partition_point(
        stack, [&](std::uint32_t op) { return trace.end_ns(op) >= end; });
    if (covering != stack.begin()) {
      links.inner_operator[event] = *std::prev(covering);
    } else if (trace.kind[event] == EventKind::runtime_call && !stack.empty()) {
      links.inner_operator[event] = stack.back();
    }
    if (links.inner_operator[event] != kNoEvent) links.outermost[event] = stack.front();
    if (trace.kind[event] != EventKind::cpu_operator) continue;
    // From here on, this one covers whatever one that ends earlier would.
    while (!stack.empty() && trace.end_ns(stack.back()) < end) stack.pop_back();
    stack.push_back(event);
  }
}

void link_launches(const RecordedTrace& trace, LaunchLinks& links) {
  std::unordered_map<std::int64_t, std::uint32_t> calls;
  std::unordered_map<std::int64_t, std::uint32_t> operators;
  for (std::uint32_t event = 0; event < trace.size(); ++event) {
    if (trace.kind[event] == EventKind::runtime_call && trace.correlation[event] != kNotRecorded) {
      calls.emplace(trace.correlation[event], event);
    } else if (trace.kind[event] == EventKind::cpu_operator &&
               trace.external_id[event] != kNotRecorded) {
      operators.emplace(trace.external_id[event], event);
    }
  }
  for (std::uint32_t event = 0; event < trace.size(); ++event) {
    const bool works = is_device_work(trace.kind[event]);
    if (!works && trace.kind[event] != EventKind::synchronization &&
        trace.kind[event] != EventKind::event_record) {
      continue;
    }
    if (const auto call = calls.find(trace.correlation[event]); call != calls.end()) {
      links.call[event] = call->second;
      if (works) links.inner_operator[event] = links.inner_operator[call->second];
    } else if (works && trace.external_id[event] != kNotRecorded &&
               trace.external_id[event] != trace.correlation[event]) {
      const auto found = operators.find(trace.external_id[event]);
      if (found != operators.end()) links.inner_operator[event] = found->second;
    }
  }
}

}  // namespace

std::uint32_t LaunchLinks::outer_operator(std::uint32_t event) const {
  const std::uint32_t inner = inner_operator[event];
  return inner == kNoEvent || outermost[inner] == kNoEvent ? inner : outermost[inner];
}

LaunchLinks launch_links(const RecordedTrace& trace) {
  LaunchLinks links;
  links.call.assign(trace.size(), kNoEvent);
  links.inner_operator.assign(trace.size(), kNoEvent);
  links.outermost.assign(trace.size(), kNoEvent);
  link_operators(trace, links);
  link_launches(trace, links);
  return links;
}

bool unlaunched_is_earlier(const RecordedTrace& trace, const LaunchLinks& links) {
  std::optional<std::int64_t> first_launched;
  std::optional<std::int64_t> last_unlaunched;
  for (std::uint32_t event = 0; event < trace.size(); ++event) {
    if (!is_device_work(trace.kind[event])) continue;
    const std::int64_t start = trace.start_ns[event];
    if (!links.is_launched(event)) {
      last_unlaunched = std::max(last_unlaunched.value_or(start), start);
    } else if (!first_launched) {
      first_launched = start;  // events are by start
    }
  }
  return !last_unlaunched || (first_launched && *last_unlaunched < *first_launched);
}

}  // namespace orrery
