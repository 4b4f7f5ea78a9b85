#include "trace/launch_links.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

namespace orrery {
namespace {

// Operators of one thread that overlap without nesting are rare accidents of clocks; more than this
// many at once are not looked through.
constexpr std::ptrdiff_t kMostOverlapping = 16;

void link_operators(const RecordedTrace& trace, LaunchLinks& links) {
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
    const auto last = stack.rbegin() + std::min(std::ssize(stack), kMostOverlapping);
    const auto around = std::find_if(stack.rbegin(), last, [&](std::uint32_t op) {
      return trace.end_ns(op) >= trace.end_ns(e);
    });
    if (around != last) {
      links.inner_operator[e] = *around;
      links.outermost[e] = links.outer_operator(e);
    }
    if (trace.kind[e] == EventKind::cpu_operator) stack.push_back(e);
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
