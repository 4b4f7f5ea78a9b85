#include "analyze/temporal_breakdown.h"

#include <algorithm>

#include "analyze/steps.h"

namespace orrery {
namespace {

// Kinds as HolisticTraceAnalysis has them: by name, whatever the category of the event.
std::vector<WorkKind> kinds_of_hta(const RecordedTrace& trace) {
  std::vector<WorkKind> kinds(trace.size(), WorkKind::none);
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e])) continue;
    const std::string_view text = trace.name_of(e);
    const bool communicates = text.starts_with("nccl") || text.starts_with("hccl") ||
                              text.find("ncclKernel") != std::string_view::npos;
    std::string_view copy = text;
    if (copy.starts_with("hip")) copy.remove_prefix(3);
    const bool copies =
        copy.starts_with("Memcpy") || copy.starts_with("Memset") || text.starts_with("dma");
    kinds[e] = communicates ? WorkKind::communication : copies ? WorkKind::copy : WorkKind::compute;
  }
  return kinds;
}

std::vector<std::uint32_t> events_of(const std::vector<WorkKind>& kinds) {
  std::vector<std::uint32_t> events;
  for (std::uint32_t e = 0; e < kinds.size(); ++e) {
    if (kinds[e] != WorkKind::none) events.push_back(e);
  }
  return events;
}

// The work is clipped to the window already.
TemporalBreakdown breakdown_of(const DeviceWork& work, const std::vector<Gap>& idle,
                               Interval window, const Intervals& other_process) {
  const Intervals copying = union_of(work.copies, work.fills);
  const Intervals kernels = work.kernels();
  return {.window = window,
          .compute_ns = length(work.compute),
          .exposed_communication_ns = length(difference(work.communication, work.compute)),
          .exposed_copy_ns = length(difference(copying, kernels)),
          .idle = idle_time(idle, window, other_process),
          .communication_ns = length(work.communication),
          .copy_ns = length(copying),
          .overlapped_ns = length(intersection(work.communication, work.compute))};
}

}  // namespace

std::vector<WorkKind> kinds_of(const RecordedTrace& trace, const LaunchLinks& links,
                               BreakdownPreset preset) {
  std::vector<WorkKind> kinds =
      preset == BreakdownPreset::hta ? kinds_of_hta(trace) : work_kinds(trace);
  const auto keep = [&](const auto& taken) {
    for (std::size_t e = 0; e < kinds.size(); ++e) {
      if (kinds[e] != WorkKind::none && !taken(e)) kinds[e] = WorkKind::none;
    }
  };
  if (preset == BreakdownPreset::tracelens) {
    std::ranges::replace(kinds, WorkKind::fill, WorkKind::compute);
    keep([&](std::size_t e) { return links.operator_of(e) != kNoEvent; });
  } else if (preset == BreakdownPreset::hta) {
    const std::vector<RecordedStep> steps = recorded_steps(trace);
    const bool several =
        !steps.empty() && trace.name_of(steps.front().event) != trace.name_of(steps.back().event);
    if (!several) return kinds;
    keep([&](std::size_t e) {
      return links.call[e] != kNoEvent && trace.start_ns[links.call[e]] < steps.back().window.start;
    });
  }
  return kinds;
}

TemporalBreakdown temporal_breakdown(const RecordedTrace& trace, const LaunchLinks& links,
                                     BreakdownPreset preset, std::optional<Interval> window,
                                     const Intervals& other_process) {
  const std::vector<WorkKind> kinds = kinds_of(trace, links, preset);
  const bool asked = window && preset == BreakdownPreset::orrery;
  const Interval whole = asked ? *window : device_span(trace, kinds);
  const DeviceWork work = clipped(device_work(trace, kinds), whole);
  return breakdown_of(work, gaps(trace, links, events_of(kinds)), whole, other_process);
}

std::vector<TemporalBreakdown> temporal_breakdowns(const RecordedTrace& trace,
                                                   const LaunchLinks& links,
                                                   const std::vector<WorkKind>& kinds,
                                                   const std::vector<Interval>& windows,
                                                   const Intervals& other_process) {
  const DeviceWork work = device_work(trace, kinds);
  const std::vector<Gap> idle = gaps(trace, links, events_of(kinds));
  std::vector<TemporalBreakdown> breakdowns;
  breakdowns.reserve(windows.size());
  for (const Interval& window : windows) {
    breakdowns.push_back(breakdown_of(clipped(work, window), idle, window, other_process));
  }
  return breakdowns;
}

TemporalBreakdown& TemporalBreakdown::operator+=(const TemporalBreakdown& b) {
  window.end += b.total_ns();
  compute_ns += b.compute_ns;
  exposed_communication_ns += b.exposed_communication_ns;
  exposed_copy_ns += b.exposed_copy_ns;
  idle.host_wait_ns += b.idle.host_wait_ns;
  idle.kernel_wait_ns += b.idle.kernel_wait_ns;
  idle.other_ns += b.idle.other_ns;
  idle.other_process_ns += b.idle.other_process_ns;
  communication_ns += b.communication_ns;
  copy_ns += b.copy_ns;
  overlapped_ns += b.overlapped_ns;
  return *this;
}

}  // namespace orrery
