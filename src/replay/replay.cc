#include "replay/replay.h"

#include <algorithm>
#include <cmath>

#include "trace/recorded_time.h"

namespace orrery {
namespace {

// When a piece of work began, on the host's clock of its rank and in the replay.
struct Start {
  std::int64_t recorded_ns = 0;
  std::int64_t replayed_ns = 0;
};

// Median over the work that began in a window; `starts` ascend by their recorded moment.
Seconds displacement(const std::vector<Start>& starts, const RunStep& step, std::int64_t from) {
  auto start = std::ranges::lower_bound(starts, step.start_ns, {}, &Start::recorded_ns);
  std::vector<std::int64_t> apart;
  for (; start != starts.end() && start->recorded_ns < step.end_ns; ++start) {
    apart.push_back(std::abs((start->replayed_ns - from) - (start->recorded_ns - step.start_ns)));
  }
  if (apart.empty()) return {};
  return seconds_of_ns(median(apart));
}

}  // namespace

double ReplayedStep::error() const {
  return std::abs(replayed.value() - recorded.value()) / recorded.value();
}

double ReplayedStep::misplaced() const {
  const auto apart = [](Seconds a, Seconds b) { return std::abs(a.value() - b.value()); };
  const FourParts& a = recorded_parts;
  const FourParts& b = replayed_parts;
  return (apart(a.exposed_compute, b.exposed_compute) + apart(a.overlapped, b.overlapped) +
          apart(a.exposed_communication, b.exposed_communication) + apart(a.other, b.other)) /
         2 / recorded.value();
}

Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph) {
  return replay(traces, graph, replayed_run(graph));
}

Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph,
              const ReplayedRun& replayed) {
  std::vector<std::vector<WorkSpan>> recorded_spans(traces.size());
  std::vector<std::vector<WorkSpan>> replayed_spans(traces.size());
  std::vector<std::vector<Start>> starts(traces.size());
  for (const RunWork& work : graph.works) {
    const RecordedTrace& trace = traces[work.trace];
    const std::int64_t clock = graph.device_clock(work.trace);
    starts[work.trace].push_back(
        {trace.start_ns[work.event] + clock, replayed.start_ns[work.first]});
    if (trace.kind[work.event] != EventKind::kernel) continue;
    const bool communicates = graph.nodes[work.first].kind == RunNodeKind::arrival;
    recorded_spans[work.trace].push_back(
        {trace.start_ns[work.event], trace.end_ns(work.event), communicates});
    replayed_spans[work.trace].push_back(
        {replayed.start_ns[work.first], replayed.end_ns[work.last], communicates});
  }
  const std::vector<PartsOverTime> recorded(recorded_spans.begin(), recorded_spans.end());
  const std::vector<PartsOverTime> simulated(replayed_spans.begin(), replayed_spans.end());
  for (auto& of_trace : starts) std::ranges::sort(of_trace, {}, &Start::recorded_ns);
  const std::vector<BoundBy> bounds = bound_by(graph, replayed);

  Replay result;
  result.dropped_edges = replayed.dropped_edges;
  for (std::size_t i = 0; i < graph.steps.size(); ++i) {
    const RunStep& step = graph.steps[i];
    const std::int64_t from = step.from == kNoEvent ? 0 : replayed.end_ns[step.from];
    const std::int64_t to = replayed.end_ns[step.to];
    ReplayedStep s;
    s.trace = step.trace;
    s.rank = traces[step.trace].rank;
    s.name = step.name;
    s.recorded = seconds_of_ns(step.end_ns - step.start_ns);
    s.replayed = seconds_of_ns(to - from);
    s.recorded_parts = recorded[step.trace].between(step.start_ns, step.end_ns);
    s.replayed_parts = simulated[step.trace].between(from, to);
    s.displacement = displacement(starts[step.trace], step, from);
    s.bound_by = bounds[i];
    result.mean_error += s.error();
    result.worst_error = std::max(result.worst_error, s.error());
    result.mean_misplaced += s.misplaced();
    result.worst_misplaced = std::max(result.worst_misplaced, s.misplaced());
    result.steps.push_back(std::move(s));
  }
  if (!result.steps.empty()) {
    result.mean_error /= static_cast<double>(result.steps.size());
    result.mean_misplaced /= static_cast<double>(result.steps.size());
  }
  return result;
}

}  // namespace orrery
