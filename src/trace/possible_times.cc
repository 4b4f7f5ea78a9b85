#include "trace/possible_times.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "trace/kept_events.h"

namespace orrery {
namespace {

constexpr double kLargestSumNs = 4.6e18;  // 2^62

std::optional<std::int64_t> median_time(const RecordedTrace& trace) {
  if (trace.size() > 0) return trace.start_ns[trace.size() / 2];
  if (!trace.memory.empty()) return trace.memory[trace.memory.size() / 2].time_ns;
  return std::nullopt;
}

bool strays(std::int64_t time, std::int64_t median) {
  return time < median - kLongestRecordingNs || time > median + kLongestRecordingNs;
}

Result<void> check_sum(const RecordedTrace& trace) {
  double sum = 0;
  for (const std::int64_t duration : trace.duration_ns) sum += static_cast<double>(duration);
  if (sum <= kLargestSumNs) return {};
  return bad_input(fmt::format("the events take {:.0f} years together", sum / 1e9 / 86400 / 365),
                   "", "are the times microseconds?");
}

}  // namespace

Result<void> check_times(const RecordedTrace& trace) {
  const auto median = median_time(trace);
  if (!median) return {};
  for (const std::size_t i : {std::size_t{0}, trace.size() - 1}) {  // sorted: the ends tell
    if (i >= trace.size() || !strays(trace.start_ns[i], *median)) continue;
    const double days = static_cast<double>(trace.start_ns[i] - *median) / 1e9 / 86400;
    return bad_input(fmt::format("event {}, \"{}\": begins {:.4g} days {} the median of the others",
                                 trace.place[i], trace.name_of(i).substr(0, 60), std::abs(days),
                                 days < 0 ? "before" : "behind"),
                     "",
                     "a recording takes no longer than a day; --partial leaves such events out");
  }
  for (const MemoryEvent& event : trace.memory) {
    if (!strays(event.time_ns, *median)) continue;
    return bad_input(
        fmt::format("event {}, [memory]: more than a day from the other events", event.place), "",
        "--partial leaves such events out");
  }
  return check_sum(trace);
}

Result<void> leave_out_strays(RecordedTrace& trace) {
  const auto median = median_time(trace);
  if (!median) return {};
  const auto stray = [&](std::int64_t time) { return strays(time, *median); };
  if (trace.size() > 0 && (stray(trace.start_ns.front()) || stray(trace.start_ns.back()))) {
    std::vector<bool> kept(trace.size());
    for (std::size_t i = 0; i < trace.size(); ++i) {
      kept[i] = !stray(trace.start_ns[i]);
      if (!kept[i]) ++trace.left_out;
    }
    keep_events(trace, kept);
  }
  trace.left_out += static_cast<std::int64_t>(
      std::erase_if(trace.memory, [&](const MemoryEvent& event) { return stray(event.time_ns); }));
  return check_sum(trace);
}

}  // namespace orrery
