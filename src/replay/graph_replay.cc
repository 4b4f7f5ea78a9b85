#include "replay/graph_replay.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "simulate/simulate.h"
#include "timeline/intervals.h"

namespace orrery {
namespace {

Seconds seconds(std::int64_t ps) { return Seconds(static_cast<double>(ps) * 1e-12); }

std::int64_t whole(Picoseconds time) { return static_cast<std::int64_t>(time.count()); }

Intervals sorted_union(std::vector<Interval>& parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  return union_of(parts);
}

struct RankTimes {
  std::vector<Interval> computing;
  std::vector<Interval> communicating;
  std::vector<Interval> waiting;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
};

// Whether the rank takes part in a node; where ranks only meet is none's own.
bool is_own(const Graph& graph, NodeIndex n, std::uint32_t rank) {
  const bool on_wire = graph.stream_of(n).role == StreamRole::wire;
  if (graph.kind(n) == NodeKind::barrier && on_wire) return false;
  if (graph.stream_of(n).rank_class == rank) return true;
  const std::span<const StreamIndex> others = graph.rendezvous_streams(n);
  return std::any_of(others.begin(), others.end(),
                     [&](StreamIndex s) { return graph.streams()[s.value()].rank_class == rank; });
}

std::optional<Seconds> recorded(const ChakraTrace& trace) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  bool any = false;
  for (const ChakraNode& node : trace.nodes) {
    any = any || node.start_micros > 0;
    if (node.start_micros == 0 && node.duration_micros == 0) continue;  // not seen by the profiler
    if (node.type == ChakraNodeType::metadata || node.type == ChakraNodeType::invalid ||
        node.type == ChakraNodeType::send || node.type == ChakraNodeType::receive) {
      continue;
    }
    first = std::min(first, node.start_micros);
    last = std::max(last, node.start_micros + node.duration_micros);
  }
  if (!any || last < first) return std::nullopt;
  return Seconds(static_cast<double>(last - first) * 1e-6);
}

}  // namespace

GraphReplay replay(const Graph& graph) {
  const Timeline timeline = simulate(graph);
  std::map<std::uint32_t, RankTimes> ranks;
  for (const Stream& stream : graph.streams()) ranks.try_emplace(stream.rank_class);
  // When what stood before on each stream ended.
  std::vector<std::int64_t> stream_end(graph.streams().size(), 0);
  std::vector<StreamIndex> occupied;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const NodeKind kind = graph.kind(n);
    const Interval at{whole(timeline.start(graph, n)), whole(timeline.end(n))};
    if (kind == NodeKind::barrier) {
      stream_end[graph.stream(n).value()] = at.end;
      continue;
    }
    const bool communicates = kind == NodeKind::collective || kind == NodeKind::point_to_point;
    const NodeIndex seen = transfer_of(graph, n);
    occupied.assign(1, graph.stream(n));
    const std::span<const StreamIndex> others = graph.rendezvous_streams(n);
    occupied.insert(occupied.end(), others.begin(), others.end());
    for (const StreamIndex s : occupied) {
      const Stream& stream = graph.streams()[s.value()];
      RankTimes& rank = ranks[stream.rank_class];
      // What takes no time, such as the node of a thread, may stand before the rank begins.
      if (kind != NodeKind::point_to_point && at.end > at.start) {
        rank.first = std::min(rank.first, at.start);
        rank.last = std::max(rank.last, at.end);
      }
      if (kind == NodeKind::kernel || kind == NodeKind::block) rank.computing.push_back(at);
      if (communicates) {
        rank.communicating.push_back(
            {whole(timeline.start(graph, seen)), whole(timeline.end(seen))});
      }
      if (stream.role == StreamRole::wire) continue;
      if (communicates) {
        // It was this rank's turn once its own predecessors and its stream were done.
        std::int64_t arrival = stream_end[s.value()];
        for (const std::uint32_t p : graph.predecessors(n)) {
          if (is_own(graph, NodeIndex(p), stream.rank_class)) {
            arrival = std::max(arrival, whole(timeline.end(NodeIndex(p))));
          }
        }
        rank.waiting.push_back({arrival, at.start});
      }
      stream_end[s.value()] = at.end;
    }
  }

  GraphReplay out;
  const std::int64_t step = whole(timeline.makespan);
  out.step = seconds(step);
  for (auto& [number, times] : ranks) {
    const Intervals computing = sorted_union(times.computing);
    const Intervals communicating = sorted_union(times.communicating);
    const Intervals busy = union_of(computing, communicating);
    const std::int64_t both = length(intersection(computing, communicating));
    const std::int64_t waiting = length(difference(sorted_union(times.waiting), busy));
    ReplayedRank rank;
    rank.rank = number;
    rank.replayed = seconds(times.last > times.first ? times.last - times.first : 0);
    rank.parts = {seconds(length(computing) - both), seconds(both),
                  seconds(length(communicating) - both), seconds(waiting),
                  seconds(step - length(busy) - waiting)};
    out.longest_rank = std::max(out.longest_rank, rank.replayed);
    out.ranks.push_back(rank);
  }
  return out;
}

GraphReplay replay(const GraphFile& file) {
  GraphReplay out = replay(file.graph);
  const Timeline timeline = simulate(file.graph);
  for (const GraphFileStep& step : file.steps) {
    const Picoseconds from = step.after ? timeline.end(NodeIndex(*step.after)) : Picoseconds(0);
    ReplayedGraphStep replayed{step.rank, step.name, std::nullopt,
                               (timeline.end(NodeIndex(step.until)) - from).seconds()};
    if (step.recorded_ps > 0) replayed.recorded = Picoseconds(step.recorded_ps).seconds();
    out.steps.push_back(std::move(replayed));
  }
  return out;
}

GraphReplay replay(const ChakraRun& run, const ChakraGraph& graph) {
  GraphReplay out = replay(graph.graph);
  for (ReplayedRank& rank : out.ranks) {
    const auto it =
        std::find_if(run.begin(), run.end(), [&](const auto& r) { return r.rank == rank.rank; });
    if (it != run.end()) rank.recorded = recorded(it->trace);
  }
  out.of_simulated_times = std::any_of(
      run.begin(), run.end(), [](const ChakraRank& r) { return r.trace.has_simulated_times(); });
  return out;
}

}  // namespace orrery
