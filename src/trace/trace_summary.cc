#include "trace/trace_summary.h"

#include <algorithm>
#include <set>

#include "trace/recorded_time.h"

namespace orrery {
namespace {

// The name of the device that worked; of several, the first.
std::string device_name(const RecordedTrace& trace, const std::set<std::int64_t>& used) {
  if (trace.devices.empty()) return "";
  const std::int64_t ordinal = used.empty() ? 0 : *used.begin();
  const bool known = ordinal >= 0 && ordinal < static_cast<std::int64_t>(trace.devices.size());
  return trace.devices[known ? static_cast<std::size_t>(ordinal) : 0].name;
}

}  // namespace

TraceSummary summary(const RecordedTrace& trace) {
  TraceSummary s;
  if (trace.size() == 0) return s;
  std::vector<bool> used(trace.lanes.size(), false);
  std::vector<std::int64_t> launches;
  const std::int64_t first = trace.start_ns.front();
  std::int64_t last = first;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const EventKind kind = trace.kind[i];
    ++s.events[static_cast<std::size_t>(kind)];
    last = std::max(last, trace.end_ns(i));
    const bool host_event = !trace.lanes[trace.lane[i]].device && kind != EventKind::overhead;
    if (host_event || is_device_work(kind)) used[trace.lane[i]] = true;
    if (kind == EventKind::runtime_call && trace.correlation[i] != kNotRecorded) {
      launches.push_back(trace.correlation[i]);
    }
    if (kind == EventKind::annotation && trace.name_of(i).starts_with("ProfilerStep#")) {
      s.steps.push_back(StepMark{std::string(trace.name_of(i)),
                                 seconds_of_ns(trace.start_ns[i] - first),
                                 seconds_of_ns(trace.duration_ns[i])});
    }
    if (kind == EventKind::kernel && is_communication_kernel(trace.name_of(i))) {
      ++s.communication_kernels;
      if (trace.communication[i] != kNoDetails) ++s.described_kernels;
    }
    if (kind == EventKind::cpu_operator) {
      ++s.operators;
      if (trace.details[i] != kNoDetails && trace.operators[trace.details[i]].input_shapes != 0) {
        ++s.operators_with_shapes;
      }
    }
  }
  s.span = seconds_of_ns(last - first);

  std::ranges::sort(launches);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (!is_device_work(trace.kind[i])) continue;
    ++s.device_work;
    if (std::ranges::binary_search(launches, trace.correlation[i])) ++s.device_work_launched;
  }
  std::set<std::int64_t> devices;
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    if (!used[i]) continue;
    ++(trace.lanes[i].device ? s.streams : s.threads);
    if (trace.lanes[i].device) devices.insert(trace.lanes[i].process);
  }
  s.devices = static_cast<std::int64_t>(devices.size());
  s.device = device_name(trace, devices);
  return s;
}

}  // namespace orrery
