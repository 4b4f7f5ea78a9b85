#include "whatif/step_outcomes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "trace/launch_links.h"
#include "trace/recorded_time.h"

namespace orrery {
namespace {

// A rank, or a stage that an edit made of it.
using Place = std::pair<std::uint32_t, std::uint32_t>;
template <class Of>
Place place(const Of& of) {
  return {of.trace, of.stage};
}

std::map<Place, PartsOverTime> parts_by_place(std::span<const RecordedTrace> traces,
                                              const RunGraph& graph, const ReplayedRun& replayed) {
  std::map<Place, std::vector<WorkSpan>> spans;
  for (const RunWork& work : graph.works) {
    const RecordedTrace& trace = traces[work.trace];
    if (trace.kind[work.event] != EventKind::kernel) continue;
    spans[place(work)].push_back({replayed.start_ns[work.first], replayed.end_ns[work.last],
                                  is_communication_kernel(trace.name_of(work.event))});
  }
  std::map<Place, PartsOverTime> out;
  for (const auto& [where, of_place] : spans) out.emplace(where, of_place);
  return out;
}

// Of each step, when its rank is done with it and how long that rank waited.
struct StepEnd {
  std::int64_t at_ns = 0;
  std::int64_t waiting_ns = 0;
};

struct StepEnds {
  std::vector<StepEnd> of_step;
  std::map<Place, std::int64_t> before;  // when what was launched before the first step is done
};

// When each work was launched. Without a recorded launch: when it started, or before the recording
// (trace/launch_links.h).
std::vector<std::int64_t> launch_times(std::span<const RecordedTrace> traces,
                                       const RunGraph& graph) {
  constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
  std::vector<LaunchLinks> links;
  std::vector<bool> earlier;  // what has no launch
  links.reserve(traces.size());
  for (const RecordedTrace& trace : traces) {
    links.push_back(launch_links(trace));
    earlier.push_back(unlaunched_is_earlier(trace, links.back()));
  }
  std::vector<std::int64_t> out;
  out.reserve(graph.works.size());
  for (const RunWork& work : graph.works) {
    const LaunchLinks& of = links[work.trace];
    const std::uint32_t call = of.call[work.event];
    const bool before = earlier[work.trace] && !of.is_launched(work.event);
    out.push_back(before ? kBefore
                         : traces[work.trace].start_ns[call == kNoEvent ? work.event : call]);
  }
  return out;
}

StepEnds ends_of_steps(std::span<const RecordedTrace> traces, const RunGraph& graph,
                       const ReplayedRun& replayed) {
  StepEnds out;
  std::vector<StepEnd>& ends = out.of_step;
  ends.reserve(graph.steps.size());
  std::map<Place, std::vector<std::size_t>> steps_of;
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    ends.push_back({replayed.end_ns[graph.steps[s].to], 0});
    steps_of[place(graph.steps[s])].push_back(s);
  }
  const std::vector<std::int64_t> launches = launch_times(traces, graph);
  for (std::size_t w = 0; w < graph.works.size(); ++w) {
    const RunWork& work = graph.works[w];
    const std::int64_t launched = launches[w];
    // Steps of a trace are by start and do not overlap.
    const std::vector<std::size_t>& steps = steps_of[place(work)];
    const auto after = std::ranges::upper_bound(
        steps, launched, {}, [&](std::size_t s) { return graph.steps[s].start_ns; });
    if (after == steps.begin()) {
      std::int64_t& before = out.before[place(work)];
      before = std::max(before, replayed.end_ns[work.last]);
      continue;
    }
    const std::size_t s = *(after - 1);
    if (launched >= graph.steps[s].end_ns) continue;
    ends[s].at_ns = std::max(ends[s].at_ns, replayed.end_ns[work.last]);
    if (work.first != work.last) {
      ends[s].waiting_ns += replayed.start_ns[work.last] - replayed.end_ns[work.first];
    }
  }
  return out;
}

// Of each step of the graph, how long a thread of its rank does anything. What a thread does counts
// as compute; no span communicates, so that all of it is exposed compute.
std::vector<std::int64_t> host_times(const RunGraph& graph, const ReplayedRun& replayed) {
  std::map<std::uint32_t, std::vector<WorkSpan>> of_trace;
  for (const RunLane& lane : graph.lanes) {
    if (lane.device) continue;
    std::vector<WorkSpan>& spans = of_trace[lane.trace];
    for (const std::uint32_t n : lane.nodes) {
      if (replayed.end_ns[n] > replayed.start_ns[n]) {
        spans.push_back({replayed.start_ns[n], replayed.end_ns[n], false});
      }
    }
  }
  std::map<std::uint32_t, PartsOverTime> busy;
  for (const auto& [trace, spans] : of_trace) busy.emplace(trace, spans);
  std::vector<std::int64_t> out;
  out.reserve(graph.steps.size());
  for (const RunStep& step : graph.steps) {
    const std::int64_t begin = step.from == kNoEvent ? 0 : replayed.end_ns[step.from];
    const auto found = busy.find(step.trace);
    const FourParts parts =
        found == busy.end() ? FourParts() : found->second.between(begin, replayed.end_ns[step.to]);
    out.push_back(std::llround(parts.exposed_compute.value() * 1e9));
  }
  return out;
}

}  // namespace

std::vector<StepOutcome> step_outcomes(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                       const ReplayedRun& replayed, const ReplayedRun& host) {
  const StepEnds found = ends_of_steps(traces, graph, replayed);
  const std::vector<StepEnd>& ends = found.of_step;
  auto parts = parts_by_place(traces, graph, replayed);
  struct Progress {
    std::int64_t done_ns = 0;  // with the step before
    bool behind = false;       // the device still is, by what was launched before the first step
  };
  std::map<Place, Progress> progress;
  std::vector<std::int64_t> host_ns;  // of each step, once a device is behind: few runs need it
  std::vector<StepOutcome> out;
  out.reserve(graph.steps.size());
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    const RunStep& step = graph.steps[s];
    const std::int64_t begin = step.from == kNoEvent ? 0 : replayed.end_ns[step.from];
    const auto [of, first] = progress.try_emplace(place(step));
    Progress& so_far = of->second;
    if (first) {
      const auto earlier = found.before.find(place(step));
      so_far.done_ns = earlier == found.before.end() ? begin : earlier->second;
      so_far.behind = so_far.done_ns > begin;
    }
    std::int64_t start = std::max(begin, so_far.done_ns);
    std::int64_t end = std::max(start, ends[s].at_ns);
    so_far.done_ns = end;
    if (so_far.behind && host_ns.empty()) host_ns = host_times(graph, host);
    so_far.behind = so_far.behind && host_ns[s] > end - start;
    if (so_far.behind) {
      end = std::max(begin + host_ns[s], replayed.end_ns[step.to]);
      start = end - host_ns[s];
    }
    out.push_back({seconds_of_ns(end - start), parts[place(step)].between(start, end),
                   seconds_of_ns(std::max<std::int64_t>(0, ends[s].waiting_ns)),
                   seconds_of_ns(first ? start - begin : 0)});
  }
  return out;
}

ReplayedRun recorded_times(std::span<const RecordedTrace> traces, const RunGraph& graph) {
  ReplayedRun out;
  out.start_ns.assign(graph.nodes.size(), 0);
  out.end_ns.assign(graph.nodes.size(), 0);
  // A step from the start of the run begins at 0.
  std::vector<std::int64_t> zero_ns(traces.size(), 0);
  for (const RunStep& step : graph.steps) {
    if (step.from == kNoEvent) zero_ns[step.trace] = step.start_ns;
  }
  for (const RunStep& step : graph.steps) {
    if (step.from != kNoEvent) out.end_ns[step.from] = step.start_ns - zero_ns[step.trace];
    out.end_ns[step.to] = step.end_ns - zero_ns[step.trace];
  }
  for (const RunWork& work : graph.works) {
    const std::int64_t clock = graph.device_clock(work.trace);
    const RecordedTrace& trace = traces[work.trace];
    const std::int64_t start = trace.start_ns[work.event] + clock - zero_ns[work.trace];
    out.start_ns[work.first] = start;
    out.end_ns[work.first] = start;
    out.start_ns[work.last] = start;
    out.end_ns[work.last] = start + trace.duration_ns[work.event];
  }
  return out;
}

double mean_error(const std::vector<StepOutcome>& recorded,
                  const std::vector<StepOutcome>& replayed) {
  double sum = 0;
  std::size_t steps = 0;
  for (std::size_t s = 0; s < recorded.size(); ++s) {
    if (!(recorded[s].time > Seconds(0))) continue;
    sum += std::abs(replayed[s].time / recorded[s].time - 1);
    ++steps;
  }
  return steps == 0 ? 0 : sum / static_cast<double>(steps);
}

Seconds mean_time(const std::vector<RunStep>& steps, const std::vector<StepOutcome>& outcomes) {
  std::map<std::pair<std::uint32_t, std::int64_t>, Seconds> longest;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    Seconds& time = longest[{steps[s].trace, steps[s].start_ns}];
    time = std::max(time, outcomes[s].time);
  }
  Seconds sum;
  for (const auto& [step, time] : longest) sum += time;
  return longest.empty() ? sum : sum / static_cast<double>(longest.size());
}

Seconds mean_waiting(const std::vector<StepOutcome>& outcomes) {
  Seconds sum;
  for (const StepOutcome& outcome : outcomes) sum += outcome.waiting;
  return outcomes.empty() ? sum : sum / static_cast<double>(outcomes.size());
}

}  // namespace orrery
