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

// One sweep over starts and ends of the spans of one rank, sorted by time.
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
  return changes;
}

Seconds from_ns(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

FourParts parts(const std::vector<Change>& changes, std::int64_t start_ns, std::int64_t end_ns) {
  std::array<std::int64_t, 4> ns{};
  std::int32_t computing = 0;
  std::int32_t communicating = 0;
  std::int64_t since = start_ns;
  const auto account = [&](std::int64_t until) {
    const std::int64_t to = std::clamp(until, start_ns, end_ns);
    const std::size_t part = (computing > 0 ? 1U : 0U) + (communicating > 0 ? 2U : 0U);
    ns[part] += to - since;
    since = to;
  };
  for (const Change& change : changes) {
    account(change.at_ns);
    computing += change.computing;
    communicating += change.communicating;
  }
  account(end_ns);
  return {from_ns(ns[1]), from_ns(ns[3]), from_ns(ns[2]), from_ns(ns[0])};
}

}  // namespace

double ReplayedStep::error() const {
  return std::abs(replayed.value() - recorded.value()) / recorded.value();
}

Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph) {
  return replay(traces, graph, replayed_run(graph));
}

Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph,
              const ReplayedRun& replayed) {
  std::vector<std::vector<Span>> recorded_spans(traces.size());
  std::vector<std::vector<Span>> replayed_spans(traces.size());
  for (const RunWork& work : graph.works) {
    const RecordedTrace& trace = traces[work.trace];
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

  Replay result;
  result.dropped_edges = replayed.dropped_edges;
  for (const RunStep& step : graph.steps) {
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
    result.mean_error += s.error();
    result.worst_error = std::max(result.worst_error, s.error());
    result.steps.push_back(std::move(s));
  }
  if (!result.steps.empty()) result.mean_error /= static_cast<double>(result.steps.size());
  return result;
}

}  // namespace orrery
