#include "replay/replay.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

struct Span {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool communicates = false;
};

// What runs on one rank from a moment on, up to the next change.
struct Change {
  std::int64_t at_ns = 0;
  std::int32_t computing = 0;
  std::int32_t communicating = 0;
};

std::vector<Change> changes_of(const std::vector<Span>& spans) {
  std::vector<Change> changes;
  changes.reserve(spans.size() * 2);
  for (const Span& s : spans) {
    const std::int32_t communicates = s.communicates ? 1 : 0;
    changes.push_back({s.start_ns, 1 - communicates, communicates});
    changes.push_back({s.end_ns, communicates - 1, -communicates});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at_ns < b.at_ns; });
  for (std::size_t i = 1; i < changes.size(); ++i) {
    changes[i].computing += changes[i - 1].computing;
    changes[i].communicating += changes[i - 1].communicating;
  }
  return changes;
}

Seconds from_ns(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

FourParts parts(const std::vector<Change>& changes, std::int64_t start_ns, std::int64_t end_ns) {
  std::array<std::int64_t, 4> ns{};
  std::size_t part = 0;
  std::int64_t since = start_ns;
  auto change = std::upper_bound(changes.begin(), changes.end(), start_ns,
                                 [](std::int64_t time, const Change& c) { return time < c.at_ns; });
  const auto running = [](const Change& c) {
    return (c.computing > 0 ? 1U : 0U) + (c.communicating > 0 ? 2U : 0U);
  };
  if (change != changes.begin()) part = running(*std::prev(change));
  for (; change != changes.end() && change->at_ns < end_ns; ++change) {
    ns[part] += change->at_ns - since;
    since = change->at_ns;
    part = running(*change);
  }
  ns[part] += end_ns - since;
  return {from_ns(ns[1]), from_ns(ns[3]), from_ns(ns[2]), from_ns(ns[0])};
}

// When a piece of work began, on the host's clock of its rank and in the replay.
struct Start {
  std::int64_t recorded_ns = 0;
  std::int64_t replayed_ns = 0;
};

// Median over the work that began in a window; `starts` ascend by their recorded moment.
Seconds displacement(const std::vector<Start>& starts, const RunStep& step, std::int64_t from) {
  auto start =
      std::lower_bound(starts.begin(), starts.end(), step.start_ns,
                       [](const Start& s, std::int64_t time) { return s.recorded_ns < time; });
  std::vector<std::int64_t> apart;
  for (; start != starts.end() && start->recorded_ns < step.end_ns; ++start) {
    apart.push_back(std::abs((start->replayed_ns - from) - (start->recorded_ns - step.start_ns)));
  }
  if (apart.empty()) return {};
  const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
  std::nth_element(apart.begin(), middle, apart.end());
  return from_ns(*middle);
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
  std::vector<std::vector<Span>> recorded_spans(traces.size());
  std::vector<std::vector<Span>> replayed_spans(traces.size());
  std::vector<std::vector<Start>> starts(traces.size());
  for (const RunWork& work : graph.works) {
    const RecordedTrace& trace = traces[work.trace];
    const std::int64_t clock =
        work.trace < graph.device_clock_ns.size() ? graph.device_clock_ns[work.trace] : 0;
    starts[work.trace].push_back(
        {trace.start_ns[work.event] + clock, replayed.start_ns[work.first]});
    if (trace.kind[work.event] != EventKind::kernel) continue;
    const bool communicates = graph.nodes[work.first].kind == RunNodeKind::arrival;
    recorded_spans[work.trace].push_back(
        {trace.start_ns[work.event], trace.end_ns(work.event), communicates});
    replayed_spans[work.trace].push_back(
        {replayed.start_ns[work.first], replayed.end_ns[work.last], communicates});
  }
  std::vector<std::vector<Change>> recorded_changes;
  std::vector<std::vector<Change>> replayed_changes;
  for (const auto& spans : recorded_spans) recorded_changes.push_back(changes_of(spans));
  for (const auto& spans : replayed_spans) replayed_changes.push_back(changes_of(spans));
  for (auto& of_trace : starts) {
    std::sort(of_trace.begin(), of_trace.end(),
              [](const Start& a, const Start& b) { return a.recorded_ns < b.recorded_ns; });
  }
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
    s.recorded = from_ns(step.end_ns - step.start_ns);
    s.replayed = from_ns(to - from);
    s.recorded_parts = parts(recorded_changes[step.trace], step.start_ns, step.end_ns);
    s.replayed_parts = parts(replayed_changes[step.trace], from, to);
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
