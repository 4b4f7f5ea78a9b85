#include "replay/chakra_replay.h"

#include <algorithm>
#include <limits>

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

ChakraReplay replay(const ChakraRun& run, const ChakraGraph& graph) {
  const Timeline timeline = simulate(graph.graph);
  std::vector<RankTimes> ranks(run.size());
  // When what stood before on each stream ended.
  std::vector<std::int64_t> stream_end(graph.graph.streams().size(), 0);
  for (std::size_t i = 0; i < graph.graph.size(); ++i) {
    const NodeIndex n(i);
    const Interval at{whole(timeline.start(graph.graph, n)), whole(timeline.end(n))};
    const NodeKind kind = graph.graph.kind(n);
    for (const ChakraGraph::Member& member : graph.members_of(n)) {
      RankTimes& rank = ranks[member.node.rank];
      if (kind == NodeKind::barrier) continue;
      if (kind != NodeKind::point_to_point) {
        rank.first = std::min(rank.first, at.start);
        rank.last = std::max(rank.last, at.end);
      }
      if (kind == NodeKind::kernel) rank.computing.push_back(at);
      if (kind != NodeKind::collective && kind != NodeKind::point_to_point) {
        if (member.stream != kNoStream) stream_end[member.stream] = at.end;
        continue;
      }
      const NodeIndex seen = graph.transfer_of(n);
      rank.communicating.push_back(
          {whole(timeline.start(graph.graph, seen)), whole(timeline.end(seen))});
      if (member.stream == kNoStream) continue;
      // It was this rank's turn once its own predecessors and its stream were done.
      std::int64_t arrival = stream_end[member.stream];
      for (const std::uint32_t p : graph.graph.predecessors(n)) {
        const NodeIndex before(p);
        for (const ChakraGraph::Member& other : graph.members_of(before)) {
          if (other.node.rank == member.node.rank) {
            arrival = std::max(arrival, whole(timeline.end(before)));
          }
        }
      }
      rank.waiting.push_back({arrival, at.start});
      stream_end[member.stream] = at.end;
    }
  }

  ChakraReplay out;
  const std::int64_t step = whole(timeline.makespan);
  out.step = seconds(step);
  for (std::size_t r = 0; r < run.size(); ++r) {
    RankTimes& times = ranks[r];
    const Intervals computing = sorted_union(times.computing);
    const Intervals communicating = sorted_union(times.communicating);
    const Intervals busy = union_of(computing, communicating);
    const std::int64_t both = length(intersection(computing, communicating));
    const std::int64_t waiting = length(difference(sorted_union(times.waiting), busy));
    ChakraReplayedRank rank;
    rank.rank = run[r].rank;
    rank.recorded = recorded(run[r].trace);
    rank.replayed = seconds(times.last > times.first ? times.last - times.first : 0);
    rank.parts = {seconds(length(computing) - both), seconds(both),
                  seconds(length(communicating) - both), seconds(waiting),
                  seconds(step - length(busy) - waiting)};
    out.longest_rank = std::max(out.longest_rank, rank.replayed);
    out.ranks.push_back(rank);
  }
  return out;
}

}  // namespace orrery
