#include "replay/graph_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "replay/simulated_recording.h"
#include "simulate/simulate.h"

namespace orrery {

Result<GraphRun> graph_run(GraphFile file, const std::string& name) {
  const Graph& graph = file.graph;
  const Timeline timeline = simulate(graph);
  GraphRun out;
  ORRERY_TRY(out.seen, marked_recording(file, timeline, name));
  std::map<std::int64_t, std::uint32_t> trace_of;
  // Events by stream and node.
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> event_of;
  for (std::uint32_t t = 0; t < out.seen.ranks.size(); ++t) {
    const RecordedTrace& trace = out.seen.ranks[t];
    trace_of[trace.rank] = t;
    for (std::uint32_t e = 0; e < trace.size(); ++e) {
      if (trace.external_id[e] == kNotRecorded) continue;
      event_of[{trace.lanes[trace.lane[e]].thread, trace.external_id[e]}] = e;
    }
  }
  RunGraph& run = out.graph;
  std::vector<std::uint32_t> lane_of(graph.streams().size(), kNoLane);
  for (std::size_t s = 0; s < graph.streams().size(); ++s) {
    const Stream& stream = graph.streams()[s];
    if (stream.role == StreamRole::wire) continue;
    lane_of[s] = static_cast<std::uint32_t>(run.lanes.size());
    RunLane lane;
    lane.trace = trace_of.at(stream.rank_class);
    lane.device = stream.role != StreamRole::host;
    const std::vector<Lane>& lanes = out.seen.ranks[lane.trace].lanes;
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
      if (lanes[l].thread == static_cast<std::int64_t>(s)) lane.lane = l;
    }
    run.lanes.push_back(std::move(lane));
  }
  std::vector<std::uint32_t> last(graph.size());  // of what a node became
  std::vector<StreamIndex> occupied;
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const std::int64_t duration = nanoseconds(graph.duration(n));
    const auto wait = [&](std::uint32_t node) {
      for (const std::uint32_t p : graph.predecessors(n)) run.edges.push_back({last[p], node});
    };
    occupied.assign(1, graph.stream(n));
    const std::span<const StreamIndex> others = graph.rendezvous_streams(n);
    occupied.insert(occupied.end(), others.begin(), others.end());
    const bool communicates =
        graph.kind(n) == NodeKind::collective || graph.kind(n) == NodeKind::point_to_point;
    std::optional<std::uint32_t> rendezvous;  // of several ranks
    if (occupied.size() > 1) {
      rendezvous = run.add({RunNodeKind::rendezvous, trace_of.at(graph.stream_of(n).rank_class)});
    }
    for (const StreamIndex s : occupied) {
      const std::uint32_t lane = lane_of[s.value()];
      const std::uint32_t trace = trace_of.at(graph.streams()[s.value()].rank_class);
      const auto event = event_of.find({static_cast<std::int64_t>(s.value()), std::int64_t{i}});
      const bool seen = event != event_of.end();
      RunNode node{RunNodeKind::latency, trace, seen ? event->second : kNoEvent, lane, duration};
      if (lane != kNoLane && (!run.lanes[lane].device || graph.kind(n) == NodeKind::host)) {
        node.kind = RunNodeKind::host;
      } else if (seen) {
        node.kind = RunNodeKind::work;
      } else if (lane != kNoLane) {
        node.kind = RunNodeKind::dispatch;
      }
      if (node.kind == RunNodeKind::work && (communicates || rendezvous)) {
        node.kind = RunNodeKind::transfer;
        const std::uint32_t arrival = run.add({RunNodeKind::arrival, trace, node.event, lane, 0});
        wait(arrival);
        if (rendezvous) run.edges.push_back({arrival, *rendezvous});
        last[i] = run.add(node);
        if (rendezvous || lane == kNoLane) {
          run.edges.push_back({rendezvous.value_or(arrival), last[i]});
        }
        run.works.push_back({trace, node.event, arrival, last[i]});
      } else {
        last[i] = run.add(node);
        wait(last[i]);
        if (node.kind == RunNodeKind::work)
          run.works.push_back({trace, node.event, last[i], last[i]});
      }
    }
  }
  // The step ends for all ranks when the last operation of any does.
  const std::uint32_t end = run.add({RunNodeKind::rendezvous, 0});
  for (const RunLane& lane : run.lanes) {
    if (!lane.nodes.empty()) run.edges.push_back({lane.nodes.back(), end});
  }
  for (std::uint32_t t = 0; t < out.seen.ranks.size(); ++t) {
    RecordedTrace& trace = out.seen.ranks[t];
    const auto thread = static_cast<std::uint32_t>(trace.lanes.size());
    trace.lanes.push_back(
        {.device = false, .process = 0, .thread = -1, .process_name = "", .thread_name = "steps"});
    run.lanes.push_back({t, thread, false, {}});
    const std::uint32_t left =
        run.add({RunNodeKind::host, t, kNoEvent, static_cast<std::uint32_t>(run.lanes.size() - 1)});
    run.edges.push_back({end, left});
    run.steps.push_back({.trace = t,
                         .name = "predicted step",
                         .to = left,
                         .end_ns = std::max<std::int64_t>(1, nanoseconds(timeline.makespan))});
  }
  std::ranges::stable_sort(run.works, [&](const RunWork& a, const RunWork& b) {
    return std::pair(a.trace, run.nodes[a.last].lane) < std::pair(b.trace, run.nodes[b.last].lane);
  });
  // A graph made of a recording knows durations alone.
  const bool predicted = std::ranges::any_of(
      file.graph.operations(), [](const Operation& operation) { return !operation.parts.empty(); });
  if (predicted) {
    out.operations.emplace();
    for (const RecordedTrace& trace : out.seen.ranks) {
      out.operations->nodes.push_back(trace.external_id);
    }
    out.operations->graph = std::move(file.graph);
  }
  forget_marks(out.seen);
  return out;
}

}  // namespace orrery
