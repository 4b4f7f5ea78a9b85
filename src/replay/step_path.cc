#include "replay/step_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "timeline/intervals.h"
#include "trace/data_loading.h"
#include "trace/recorded_time.h"

namespace orrery {
namespace {

constexpr std::string_view kBetweenOperators = "between operators";

// Of every lane of a trace, when training data was loaded there.
std::vector<Intervals> data_loading_of(const RecordedTrace& trace) {
  std::vector<Intervals> lanes(trace.lanes.size());
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (!is_data_loading(trace, e)) continue;
    Intervals& of_lane = lanes[trace.lane[e]];
    if (!of_lane.empty() && trace.end_ns(e) <= of_lane.back().end) continue;
    of_lane.push_back({trace.start_ns[e], trace.end_ns(e)});
  }
  return lanes;
}

bool within(const Intervals& intervals, std::int64_t time) {
  const auto after = std::ranges::upper_bound(intervals, time, {}, &Interval::start);
  return after != intervals.begin() && time < std::prev(after)->end;
}

// Labels the chains of a run.
class RunPaths {
 public:
  RunPaths(std::span<const RecordedTrace> traces, const RunGraph& graph,
           const ReplayedRun& replayed)
      : traces_(traces), graph_(graph), chains_(critical_chains(graph, replayed)) {
    for (const RecordedTrace& trace : traces) loading_.push_back(data_loading_of(trace));
    for (const RunEdge& edge : graph.edges) {
      if (edge.across_streams) across_streams_.emplace_back(edge.from, edge.to);
    }
    std::ranges::sort(across_streams_);
  }

  [[nodiscard]] StepPath path(const PathWindow& window) const {
    PathCollection path(window.step);
    if (window.to == kNoEvent) return path.path();
    const std::vector<ChainNode> chain = chains_.up_to(window.to, window.from_ns);
    const std::vector<std::uint32_t> lanes = lanes_of(chain);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const RunNode& node = graph_.nodes[chain[i].node];
      path.add({.rank = traces_[node.trace].rank,
                .place = lanes[i],
                .on = place_text(node.trace, lanes[i]),
                .on_host = !on_device(lanes[i]),
                .name = node.event == kNoEvent ? kBetweenOperators
                                               : traces_[node.trace].name_of(node.event),
                .bound = bound_of(chain, i),
                .awaited = across_streams(chain, i)},
               chain[i].ns);
    }
    return path.path();
  }

 private:
  // What is on no lane (a latency, a rendezvous) counts to the lane it leads to.
  [[nodiscard]] std::vector<std::uint32_t> lanes_of(const std::vector<ChainNode>& chain) const {
    std::vector<std::uint32_t> lanes(chain.size(), kNoLane);
    std::uint32_t next = kNoLane;
    for (std::size_t i = chain.size(); i-- > 0;) {
      const std::uint32_t own = graph_.nodes[chain[i].node].lane;
      if (own != kNoLane) next = own;
      lanes[i] = next;
    }
    return lanes;
  }

  [[nodiscard]] bool on_device(std::uint32_t lane) const {
    return lane != kNoLane && graph_.lanes[lane].device;
  }
  [[nodiscard]] bool is_on_device(const ChainNode& one) const {
    return on_device(graph_.nodes[one.node].lane);
  }
  // Whether the next of the chain waited for this one on another stream.
  [[nodiscard]] bool across_streams(const std::vector<ChainNode>& chain, std::size_t i) const {
    return i + 1 < chain.size() &&
           std::binary_search(across_streams_.begin(), across_streams_.end(),
                              std::pair(chain[i].node, chain[i + 1].node));
  }

  [[nodiscard]] PathBound bound_of(const std::vector<ChainNode>& chain, std::size_t i) const {
    const RunNode& node = graph_.nodes[chain[i].node];
    switch (node.kind) {
      case RunNodeKind::latency:
        if (i + 1 < chain.size() && !is_on_device(chain[i + 1])) return PathBound::wake_up;
        if (across_streams(chain, i)) return PathBound::wake_up;
        return i > 0 && is_on_device(chain[i - 1]) ? PathBound::other_process
                                                   : PathBound::launch_delay;
      case RunNodeKind::dispatch:
        return PathBound::kernel_gap;
      case RunNodeKind::work:
        return traces_[node.trace].kind[node.event] == EventKind::kernel ? PathBound::compute
                                                                         : PathBound::copies;
      case RunNodeKind::arrival:
      case RunNodeKind::rendezvous:
      case RunNodeKind::transfer:
        return PathBound::communication;
      case RunNodeKind::host:
      case RunNodeKind::call:
        break;
    }
    if (node.event == kNoEvent) return PathBound::host;
    const RecordedTrace& trace = traces_[node.trace];
    return within(loading_[node.trace][trace.lane[node.event]], trace.start_ns[node.event])
               ? PathBound::data_loading
               : PathBound::host;
  }

  [[nodiscard]] std::string place_text(std::uint32_t trace, std::uint32_t lane) const {
    if (lane == kNoLane) return "";
    const Lane& of = traces_[trace].lanes[graph_.lanes[lane].lane];
    return fmt::format("{} {}", of.device ? "stream" : "thread", of.thread);
  }

  std::span<const RecordedTrace> traces_;
  const RunGraph& graph_;
  CriticalChains chains_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> across_streams_;  // nodes
  std::vector<std::vector<Intervals>> loading_;                          // by trace, then lane
};

// Of every rank from the first to the last thing it did, on its host or on its devices.
std::vector<PathWindow> whole_recordings(std::span<const RecordedTrace> traces,
                                         const RunGraph& graph, const ReplayedRun& replayed) {
  std::vector<PathWindow> windows(traces.size());
  for (std::size_t t = 0; t < traces.size(); ++t) {
    const Interval span = span_of(traces[t]);
    windows[t].step.of = "the whole recording";
    windows[t].step.start_ns = span.start;
    windows[t].step.end_ns = span.end;
    windows[t].from_ns = std::numeric_limits<std::int64_t>::max();
  }
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const RunNode& node = graph.nodes[n];
    if (node.lane == kNoLane || node.event == kNoEvent) continue;
    PathWindow& window = windows[node.trace];
    window.from_ns = std::min(window.from_ns, replayed.start_ns[n]);
    if (window.to == kNoEvent || replayed.end_ns[n] > replayed.end_ns[window.to]) window.to = n;
  }
  return windows;
}

}  // namespace

std::vector<StepPath> step_paths(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                 std::span<const std::uint32_t> events) {
  const ReplayedRun replayed = replayed_run(graph);
  const RunPaths of_run(traces, graph, replayed);
  std::vector<PathWindow> wholes;
  if (events.empty()) wholes = whole_recordings(traces, graph, replayed);
  std::vector<StepPath> paths;
  paths.reserve(traces.size());
  auto step = graph.steps.begin();
  for (std::uint32_t t = 0; t < traces.size(); ++t) {
    while (step != graph.steps.end() && step->trace < t) ++step;
    PathWindow window;
    const bool found = step != graph.steps.end() && step->trace == t;
    if (!events.empty() && !found) {
      window.step.of = traces[t].name_of(events[t]);
    } else if (events.empty() && (!found || !step->name.starts_with("ProfilerStep"))) {
      window = std::move(wholes[t]);
    } else {
      window.step.of = step->name;
      window.step.start_ns = step->start_ns;
      window.step.end_ns = step->end_ns;
      window.from_ns = step->from == kNoEvent ? 0 : replayed.end_ns[step->from];
      window.to = step->to;
    }
    window.step.rank = traces[t].rank;
    window.step.recorded_ns = window.step.end_ns - window.step.start_ns;
    paths.push_back(of_run.path(window));
  }
  return paths;
}

Result<std::vector<StepPath>> step_paths(std::span<const RecordedTrace> traces,
                                         std::span<const std::uint32_t> events) {
  GraphFromRunOptions options;
  options.steps.assign(events.begin(), events.end());
  ORRERY_TRY(const GraphFromRun made, graph_from_run(traces, options));
  return step_paths(traces, made.graph, events);
}

}  // namespace orrery
