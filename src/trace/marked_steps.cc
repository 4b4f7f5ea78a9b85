#include "trace/marked_steps.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace orrery {
namespace {

constexpr std::string_view kMark = "ProfilerStep#";

// The lane with most operators: the thread that runs the training loop.
std::uint32_t busiest_host_lane(const RecordedTrace& trace) {
  std::vector<std::size_t> operators(trace.lanes.size());
  for (std::size_t event = 0; event < trace.size(); ++event) {
    if (trace.kind[event] == EventKind::cpu_operator) ++operators[trace.lane[event]];
  }
  return static_cast<std::uint32_t>(std::ranges::max_element(operators) - operators.begin());
}

}  // namespace

std::vector<MarkedStep> marked_steps(const RecordedTrace& trace) {
  std::vector<MarkedStep> windows;
  for (std::size_t event = 0; event < trace.size(); ++event) {
    if (trace.kind[event] != EventKind::annotation) continue;
    std::string_view text = trace.name_of(event);
    if (!text.starts_with(kMark)) continue;
    text.remove_prefix(kMark.size());
    MarkedStep window;
    std::from_chars(text.data(), text.data() + text.size(), window.number);
    window.start_ns = trace.start_ns[event];
    window.end_ns = trace.end_ns(event);
    window.lane = trace.lane[event];
    // The mark of one step may be written twice.
    if (window.end_ns > window.start_ns &&
        (windows.empty() || window.start_ns >= windows.back().end_ns)) {
      windows.push_back(window);
    }
  }
  if (!windows.empty() || trace.size() == 0) return windows;
  MarkedStep whole{kNotRecorded, trace.start_ns[0], std::numeric_limits<std::int64_t>::min(),
                   busiest_host_lane(trace)};
  for (std::size_t event = 0; event < trace.size(); ++event) {
    whole.end_ns = std::max(whole.end_ns, trace.end_ns(event));
  }
  return {whole};
}

}  // namespace orrery
