#include "replay/step_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "replay/graph_from_run.h"
#include "replay/path_hops.h"
#include "replay/run_walk.h"
#include "timeline/intervals.h"
#include "trace/data_loading.h"

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
  const auto after = std::upper_bound(intervals.begin(), intervals.end(), time,
                                      [](std::int64_t t, Interval i) { return t < i.start; });
  return after != intervals.begin() && time < std::prev(after)->end;
}

// Where a path is walked: from a moment of the replay to the end of a node.
struct WalkedWindow {
  StepPath step;  // whose it is
  std::int64_t from_ns = 0;
  std::uint32_t to = kNoEvent;
};

class Walks {
 public:
  Walks(std::span<const RecordedTrace> traces, const RunGraph& graph, const ReplayedRun& replayed)
      : traces_(traces), graph_(graph), walk_(graph, replayed) {
    loading_.reserve(traces.size());
    for (const RecordedTrace& trace : traces) loading_.push_back(data_loading_of(trace));
  }

  [[nodiscard]] StepPath path(const WalkedWindow& window) const {
    PathHops hops(window.step);
    if (window.to == kNoEvent) return hops.path();
    std::vector<WalkedNode> chain = walk_.back(window.to, window.from_ns);
    std::reverse(chain.begin(), chain.end());
    const std::vector<std::uint32_t> lanes = lanes_of(chain);
    std::size_t last = chain.size();  // the hop before that took time
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (chain[i].end_ns == chain[i].begin_ns) continue;
      const RunNode& node = graph_.nodes[chain[i].node];
      PathHop hop;
      hop.rank = traces_[node.trace].rank;
      hop.place = lanes[i] == kNoLane ? std::numeric_limits<std::uint64_t>::max() : lanes[i];
      hop.name = name_of(node);
      hop.bound = bound_of(chain, i);
      hop.cause = last == chain.size() ? StretchCause::window : cause_of(chain, lanes, last, i);
      hop.begin_ns = chain[i].begin_ns - window.from_ns;
      hop.end_ns = chain[i].end_ns - window.from_ns;
      hops.add(hop, place_text(node.trace, lanes[i]));
      last = i;
    }
    return hops.path();
  }

 private:
  // What is on no lane (a latency, a rendezvous) counts to the lane it leads to.
  [[nodiscard]] std::vector<std::uint32_t> lanes_of(const std::vector<WalkedNode>& chain) const {
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

  [[nodiscard]] PathBound latency_bound(const std::vector<WalkedNode>& chain, std::size_t i) const {
    if (i + 1 < chain.size() && !on_device(graph_.nodes[chain[i + 1].node].lane)) {
      return PathBound::wake_up;
    }
    if (chain[i].across_streams) return PathBound::wake_up;
    const bool after_work = i > 0 && on_device(graph_.nodes[chain[i - 1].node].lane);
    return after_work ? PathBound::other_process : PathBound::launch_delay;
  }

  [[nodiscard]] PathBound bound_of(const std::vector<WalkedNode>& chain, std::size_t i) const {
    const RunNode& node = graph_.nodes[chain[i].node];
    switch (node.kind) {
      case RunNodeKind::latency:
        return latency_bound(chain, i);
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

  // Why hop `to` began when hop `from` ended; what is between took no time.
  [[nodiscard]] StretchCause cause_of(const std::vector<WalkedNode>& chain,
                                      const std::vector<std::uint32_t>& lanes, std::size_t from,
                                      std::size_t to) const {
    if (graph_.nodes[chain[from].node].trace != graph_.nodes[chain[to].node].trace) {
      return StretchCause::rank;
    }
    const bool from_device = on_device(lanes[from]);
    if (!on_device(lanes[to])) {
      return from_device ? StretchCause::device : StretchCause::other_thread;
    }
    if (!from_device) return StretchCause::launch;
    for (std::size_t i = from; i < to; ++i) {
      if (chain[i].across_streams) return StretchCause::other_stream;
    }
    return StretchCause::room;
  }

  [[nodiscard]] std::string_view name_of(const RunNode& node) const {
    return node.event == kNoEvent ? kBetweenOperators : traces_[node.trace].name_of(node.event);
  }

  [[nodiscard]] std::string place_text(std::uint32_t trace, std::uint32_t lane) const {
    if (lane == kNoLane) return "";
    const Lane& of = traces_[trace].lanes[graph_.lanes[lane].lane];
    return fmt::format("{} {}", of.device ? "stream" : "thread", of.thread);
  }

  std::span<const RecordedTrace> traces_;
  const RunGraph& graph_;
  RunWalk walk_;
  std::vector<std::vector<Intervals>> loading_;  // by trace, then lane
};

// Of every rank from the first to the last thing it did, on its host or on its devices.
std::vector<WalkedWindow> whole_recordings(std::span<const RecordedTrace> traces,
                                           const RunGraph& graph, const ReplayedRun& replayed) {
  std::vector<WalkedWindow> windows(traces.size());
  for (std::size_t t = 0; t < traces.size(); ++t) {
    const RecordedTrace& trace = traces[t];
    StepPath& step = windows[t].step;
    step.of = "the whole recording";
    windows[t].from_ns = std::numeric_limits<std::int64_t>::max();
    if (trace.size() == 0) continue;
    step.start_ns = trace.start_ns.front();
    step.end_ns = step.start_ns;
    for (std::size_t e = 0; e < trace.size(); ++e) {
      step.end_ns = std::max(step.end_ns, trace.end_ns(e));
    }
  }
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const RunNode& node = graph.nodes[n];
    if (node.lane == kNoLane || node.event == kNoEvent) continue;
    WalkedWindow& window = windows[node.trace];
    window.from_ns = std::min(window.from_ns, replayed.start_ns[n]);
    if (window.to == kNoEvent || replayed.end_ns[n] > replayed.end_ns[window.to]) window.to = n;
  }
  return windows;
}

}  // namespace

std::span<const EnumName<PathBound>> names_of(PathBound) {
  using enum PathBound;
  static constexpr auto kNames = std::to_array<EnumName<PathBound>>({
      {host, "host"},
      {data_loading, "data_loading"},
      {compute, "compute"},
      {communication, "communication"},
      {copies, "copies"},
      {kernel_gap, "kernel_gap"},
      {launch_delay, "launch_delay"},
      {wake_up, "wake_up"},
      {other_process, "other_process"},
  });
  return kNames;
}

std::span<const EnumName<StretchCause>> names_of(StretchCause) {
  using enum StretchCause;
  static constexpr auto kNames = std::to_array<EnumName<StretchCause>>({
      {window, "window"},
      {launch, "launch"},
      {other_stream, "other_stream"},
      {device, "device"},
      {other_thread, "other_thread"},
      {rank, "rank"},
      {room, "room"},
  });
  return kNames;
}

Result<std::vector<StepPath>> step_paths(std::span<const RecordedTrace> traces,
                                         const StepPathOptions& options) {
  GraphFromRunOptions graph_options;
  graph_options.steps = options.events;
  ORRERY_TRY(const GraphFromRun made, graph_from_run(traces, graph_options));
  const RunGraph& graph = made.graph;
  const ReplayedRun replayed = replayed_run(graph);
  const Walks walks(traces, graph, replayed);
  std::vector<WalkedWindow> wholes;
  if (options.events.empty()) wholes = whole_recordings(traces, graph, replayed);
  std::vector<StepPath> paths;
  paths.reserve(traces.size());
  auto step = graph.steps.begin();
  for (std::uint32_t t = 0; t < traces.size(); ++t) {
    while (step != graph.steps.end() && step->trace < t) ++step;
    WalkedWindow window;
    const bool found = step != graph.steps.end() && step->trace == t;
    if (!options.events.empty() && !found) {
      window.step.of = traces[t].name_of(options.events[t]);
    } else if (options.events.empty() && (!found || !step->name.starts_with("ProfilerStep"))) {
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
    paths.push_back(walks.path(window));
  }
  return paths;
}

}  // namespace orrery
