#include "replay/graph_replay.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "parallel/parallel_for.h"
#include "simulate/simulate.h"
#include "timeline/intervals.h"

namespace orrery {
namespace {

Seconds seconds(std::int64_t ps) { return Seconds(static_cast<double>(ps) * 1e-12); }

std::int64_t whole(Picoseconds time) { return static_cast<std::int64_t>(time.count()); }

Intervals sorted_union(std::vector<Interval>& parts) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  if (!std::ranges::is_sorted(parts, earlier)) std::ranges::sort(parts, earlier);
  return union_of(parts);
}

// For a union: what goes on where the last ended makes it longer, as most operations do.
void add(std::vector<Interval>& parts, Interval next) {
  if (next.end <= next.start) return;
  if (parts.empty() || next.start < parts.back().start || next.start > parts.back().end) {
    parts.push_back(next);
  } else {
    parts.back().end = std::max(parts.back().end, next.end);
  }
}

struct RankTimes {
  std::vector<Interval> computing;
  std::vector<Interval> communicating;
  std::vector<Interval> waiting;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
};

// Calls f(stream) for each stream that a node occupies.
template <class F>
void for_each_stream(const Graph& graph, NodeIndex n, const F& f) {
  f(graph.stream(n));
  for (const StreamIndex s : graph.rendezvous_streams(n)) f(s);
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
  std::map<std::uint32_t, RankTimes> by_rank;
  for (const Stream& stream : graph.streams()) by_rank.try_emplace(stream.rank_class);
  std::vector<RankTimes*> ranks;
  for (auto& [number, times] : by_rank) ranks.push_back(&times);
  std::vector<std::uint32_t> rank_of;  // of each stream, into `ranks`
  for (const Stream& stream : graph.streams()) {
    rank_of.push_back(static_cast<std::uint32_t>(
        std::distance(by_rank.begin(), by_rank.find(stream.rank_class))));
  }
  // When what stood before on each stream ended.
  std::vector<std::int64_t> stream_end(graph.streams().size(), 0);
  // When the predecessors of a node in each rank ended, of the node `end_of`.
  std::vector<std::pair<std::size_t, std::int64_t>> own_end(ranks.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const NodeKind kind = graph.kind(n);
    const Interval at{whole(timeline.start(graph, n)), whole(timeline.end(n))};
    if (kind == NodeKind::barrier) {
      stream_end[graph.stream(n).value()] = at.end;
      continue;
    }
    const bool communicates = kind == NodeKind::collective || kind == NodeKind::point_to_point;
    if (communicates) {
      for (const std::uint32_t p : graph.predecessors(n)) {
        const NodeIndex before(p);
        // Where ranks only meet is none's own.
        const bool on_wire = graph.stream_of(before).role == StreamRole::wire;
        if (graph.kind(before) == NodeKind::barrier && on_wire) continue;
        for_each_stream(graph, before, [&](StreamIndex s) {
          auto& [node, end] = own_end[rank_of[s.value()]];
          end = std::max(node == i ? end : 0, whole(timeline.end(before)));
          node = i;
        });
      }
    }
    const NodeIndex seen = transfer_of(graph, n);
    for_each_stream(graph, n, [&](StreamIndex s) {
      RankTimes& rank = *ranks[rank_of[s.value()]];
      // What takes no time, such as the node of a thread, may stand before the rank begins.
      if (kind != NodeKind::point_to_point && at.end > at.start) {
        rank.first = std::min(rank.first, at.start);
        rank.last = std::max(rank.last, at.end);
      }
      if (kind == NodeKind::kernel || kind == NodeKind::block) add(rank.computing, at);
      if (communicates) {
        add(rank.communicating, {whole(timeline.start(graph, seen)), whole(timeline.end(seen))});
      }
      if (graph.streams()[s.value()].role == StreamRole::wire) return;
      if (communicates) {
        // It was this rank's turn once its own predecessors and its stream were done.
        const auto [node, end] = own_end[rank_of[s.value()]];
        add(rank.waiting, {std::max(stream_end[s.value()], node == i ? end : 0), at.start});
      }
      stream_end[s.value()] = at.end;
    });
  }

  GraphReplay out;
  const std::int64_t step = whole(timeline.makespan);
  out.step = seconds(step);
  for (const auto& [number, times] : by_rank) {
    out.ranks.push_back({number, std::nullopt, Seconds(0), {}});
  }
  parallel_for(ranks.size(), threads_to_use(0), [&](std::size_t r) {
    RankTimes& times = *ranks[r];
    const Intervals computing = sorted_union(times.computing);
    const Intervals communicating = sorted_union(times.communicating);
    const Intervals busy = union_of(computing, communicating);
    const std::int64_t both = length(intersection(computing, communicating));
    const std::int64_t waiting = length(difference(sorted_union(times.waiting), busy));
    ReplayedRank& rank = out.ranks[r];
    rank.replayed = seconds(times.last > times.first ? times.last - times.first : 0);
    rank.parts = {seconds(length(computing) - both), seconds(both),
                  seconds(length(communicating) - both), seconds(waiting),
                  seconds(step - length(busy) - waiting)};
  });
  for (const ReplayedRank& rank : out.ranks) {
    out.longest_rank = std::max(out.longest_rank, rank.replayed);
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
    const auto it = std::ranges::find_if(run, [&](const auto& r) { return r.rank == rank.rank; });
    if (it != run.end()) rank.recorded = recorded(it->trace);
  }
  out.of_simulated_times =
      std::ranges::any_of(run, [](const ChakraRank& r) { return r.trace.has_simulated_times(); });
  return out;
}

}  // namespace orrery
