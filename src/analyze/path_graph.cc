// Builds the graph of critical_path.h.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "analyze/critical_path.h"
#include "analyze/queue_length.h"
#include "trace/data_loading.h"
#include "trace/has.h"

namespace orrery {
namespace {

constexpr std::string_view kCallsThatWait =
    "cudaDeviceSynchronize cudaStreamSynchronize cudaEventQuery cudaEventSynchronize cudaMemcpy "
    "cudaMemcpyAsync";
constexpr std::string_view kLockingCalls = "cudaHostAlloc cudaLaunchKernel cudaMemcpyAsync";

bool is_host_event(EventKind kind) {
  return !is_device_work(kind) && kind != EventKind::synchronization &&
         kind != EventKind::event_record && kind != EventKind::device_annotation;
}

class Builder {
 public:
  Builder(const RecordedTrace& trace, const LaunchLinks& links, Interval window)
      : trace_(trace), links_(links), queues_(trace.size(), -1) {
    graph_.window = window;
  }

  PathGraph build() {
    choose_events();
    add_points();
    add_locks();
    add_nesting();
    index_launches();
    add_streams();
    merge_edges();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] bool in_window(std::size_t e) const {
    return trace_.start_ns[e] >= graph_.window.start && trace_.start_ns[e] <= graph_.window.end;
  }
  [[nodiscard]] bool launched_in_window(std::size_t e) const {
    const std::uint32_t call = links_.call[e];
    return call != kNoEvent && in_window(call) && trace_.duration_ns[call] > 0;
  }
  [[nodiscard]] const PathPoint& point(std::uint32_t i) const { return graph_.points[i]; }

  void choose_events() {
    for (std::uint32_t e = 0; e < trace_.size(); ++e) {
      const EventKind kind = trace_.kind[e];
      if (is_device_work(kind)) {
        if (launched_in_window(e)) chosen_.push_back(e);
      } else if (kind == EventKind::synchronization) {
        if (launched_in_window(e) || trace_.name_of(e) == "Stream Wait Event") {
          synchronizations_.push_back(e);
          chosen_.push_back(e);
        }
      } else if (is_host_event(kind) && in_window(e) && trace_.duration_ns[e] > 0) {
        host_.push_back(e);
        if (kind == EventKind::cpu_operator || kind == EventKind::runtime_call ||
            is_data_loading(trace_, e)) {
          chosen_.push_back(e);
        }
      }
    }
  }

  void add_points() {
    for (const std::uint32_t e : chosen_) {
      graph_.points.push_back({.event = e, .time_ns = trace_.start_ns[e], .is_start = true});
      graph_.points.push_back({.event = e, .time_ns = trace_.end_ns(e), .is_start = false});
    }
    std::ranges::sort(graph_.points, [&](const PathPoint& a, const PathPoint& b) {
      return std::tuple(a.time_ns, trace_.place[a.event], a.event, !a.is_start) <
             std::tuple(b.time_ns, trace_.place[b.event], b.event, !b.is_start);
    });
    graph_.start_of.assign(trace_.size(), kNoEvent);
    graph_.end_of.assign(trace_.size(), kNoEvent);
    for (std::uint32_t i = 0; i < graph_.points.size(); ++i) {
      (point(i).is_start ? graph_.start_of : graph_.end_of)[point(i).event] = i;
    }
  }

  // `elapsed` is false where the time between the points belongs to something else.
  void add_edge(std::uint32_t from, std::uint32_t to, PathEdge::Kind kind, bool elapsed,
                std::uint32_t event = kNoEvent) {
    // Clocks of host and device differ: an end may come before its start.
    const std::int64_t weight =
        elapsed ? std::max<std::int64_t>(0, point(to).time_ns - point(from).time_ns) : 0;
    graph_.edges.push_back(
        {.from = from, .to = to, .event = event, .kind = kind, .weight_ns = weight});
  }

  // One edge for two points: the last that was found, at the place of the first.
  void merge_edges() {
    std::vector<PathEdge>& edges = graph_.edges;
    std::vector<std::uint32_t> by_points(edges.size());
    std::iota(by_points.begin(), by_points.end(), 0u);
    std::ranges::sort(by_points, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(edges[a].from, edges[a].to, a) < std::tuple(edges[b].from, edges[b].to, b);
    });
    std::vector<bool> kept(edges.size(), true);
    std::size_t first = 0;
    for (std::size_t i = 1; i < by_points.size(); ++i) {
      const PathEdge& edge = edges[by_points[i]];
      PathEdge& earlier = edges[by_points[first]];
      if (edge.from != earlier.from || edge.to != earlier.to) {
        first = i;
        continue;
      }
      earlier = edge;
      kept[by_points[i]] = false;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (kept[i]) edges[count++] = edges[i];
    }
    edges.resize(count);
  }

  [[nodiscard]] bool locks(std::uint32_t i) const {
    return trace_.kind[point(i).event] == EventKind::runtime_call &&
           is_one_of(trace_.name_of(point(i).event), kLockingCalls);
  }

  // Of calls that overlap, those that end first had the lock first.
  void add_locks() {
    std::vector<std::uint32_t> begun;
    std::uint32_t last = kNoEvent;
    for (std::uint32_t i = 0; i < graph_.points.size(); ++i) {
      if (!locks(i)) continue;
      if (point(i).is_start) {
        begun.push_back(i);
      } else {
        while (!begun.empty()) {
          const std::uint32_t start = begun.back();
          begun.pop_back();
          const bool own = point(start).event == point(i).event;
          add_edge(start, i, own ? PathEdge::Kind::operation : PathEdge::Kind::dependency, own,
                   own ? point(i).event : kNoEvent);
        }
        if (last != kNoEvent && !point(last).is_start) {
          add_edge(last, i, PathEdge::Kind::dependency, false);
        }
      }
      last = i;
    }
  }

  // The one host lane with an operator or annotation whose name contains `part`; kNoEvent.
  [[nodiscard]] std::uint32_t only_lane_with(std::string_view part) const {
    std::uint32_t only = kNoEvent;
    for (const std::uint32_t e : host_) {
      if (trace_.kind[e] != EventKind::cpu_operator && trace_.kind[e] != EventKind::annotation) {
        continue;
      }
      if (trace_.lane[e] == only || trace_.name_of(e).find(part) == std::string_view::npos) {
        continue;
      }
      if (only != kNoEvent) return kNoEvent;
      only = trace_.lane[e];
    }
    return only;
  }

  void add_nesting() {
    const std::uint32_t forward = only_lane_with("forward");
    const std::uint32_t backward = only_lane_with("autograd");
    std::map<std::tuple<std::int64_t, std::int64_t, std::uint32_t>, std::vector<std::uint32_t>>
        threads;
    for (const std::uint32_t e : host_) {
      std::uint32_t lane = trace_.lane[e];
      if (lane == backward && forward != kNoEvent) lane = forward;
      threads[{trace_.lanes[lane].process, trace_.lanes[lane].thread, lane}].push_back(e);
    }
    for (const auto& [thread, events] : threads) add_thread(events);
  }

  void add_thread(const std::vector<std::uint32_t>& events) {
    Walk walk;
    for (const std::uint32_t e : events) {
      while (!walk.open.empty() && trace_.end_ns(walk.open.back()) <= trace_.start_ns[e]) {
        leave(walk);
      }
      enter(walk, e);
    }
    while (!walk.open.empty()) leave(walk);
  }

  struct Walk {
    std::vector<std::uint32_t> open;
    std::uint32_t last = kNoEvent;         // point
    std::uint32_t last_parent = kNoEvent;  // event that encloses that of `last`
    int depth = 0;
  };

  [[nodiscard]] bool share_a_lock(std::uint32_t first, std::uint32_t second) const {
    return locks(first) && locks(second) && (point(first).is_start || !point(second).is_start);
  }

  void enter(Walk& walk, std::uint32_t e) {
    const std::uint32_t parent = walk.open.empty() ? kNoEvent : walk.open.back();
    walk.open.push_back(e);
    const std::uint32_t start = graph_.start_of[e];
    if (start == kNoEvent) return;
    if (walk.last != kNoEvent && !share_a_lock(walk.last, start)) {
      if (walk.depth == 0) {
        add_edge(walk.last, start, PathEdge::Kind::dependency, false);
      } else {
        add_edge(walk.last, start, PathEdge::Kind::operation, true,
                 point(walk.last).is_start ? point(walk.last).event : walk.last_parent);
      }
    }
    walk.last = start;
    walk.last_parent = parent;
    ++walk.depth;
  }

  void leave(Walk& walk) {
    const std::uint32_t e = walk.open.back();
    walk.open.pop_back();
    const std::uint32_t end = graph_.end_of[e];
    if (end == kNoEvent) return;
    if (walk.last != kNoEvent && !share_a_lock(walk.last, end)) {
      const bool waits =
          trace_.kind[e] == EventKind::runtime_call && is_one_of(trace_.name_of(e), kCallsThatWait);
      add_edge(walk.last, end, PathEdge::Kind::operation, !waits, e);
    }
    walk.last = end;
    walk.last_parent = walk.open.empty() ? kNoEvent : walk.open.back();
    --walk.depth;
  }

  // Lane of a stream of the device of lane `like`; kNoEvent if nothing ran there.
  [[nodiscard]] std::uint32_t lane_of_stream(std::uint32_t like, std::int64_t stream) const {
    const auto it = stream_lanes_.find({trace_.lanes[like].process, stream});
    return it == stream_lanes_.end() ? kNoEvent : it->second;
  }

  void index_launches() {
    launches_.resize(trace_.lanes.size());
    for (std::uint32_t e = 0; e < trace_.size(); ++e) {
      if (trace_.kind[e] == EventKind::runtime_call &&
          trace_.name_of(e).find("EventRecord") != std::string_view::npos &&
          trace_.correlation[e] != kNotRecorded) {
        records_.try_emplace(trace_.correlation[e], e);
      }
      if (!is_device_work(trace_.kind[e])) continue;
      const Lane& lane = trace_.lanes[trace_.lane[e]];
      stream_lanes_.try_emplace({lane.process, lane.thread}, trace_.lane[e]);
      if (links_.call[e] != kNoEvent) launches_[trace_.lane[e]].push_back(e);
    }
    for (std::vector<std::uint32_t>& work : launches_) {
      std::ranges::stable_sort(work, [&](std::uint32_t a, std::uint32_t b) {
        return trace_.start_ns[links_.call[a]] < trace_.start_ns[links_.call[b]];
      });
    }
    for (const std::vector<QueueChange>& changes : queue_lengths(trace_, links_)) {
      for (const QueueChange& change : changes) queues_[change.event] = change.length;
    }
  }

  // The last work launched on a stream before the event was recorded; kNoEvent.
  [[nodiscard]] std::uint32_t work_before(const SynchronizationDetails& details,
                                          std::uint32_t like) const {
    const auto record = records_.find(details.record_correlation);
    if (record == records_.end()) return kNoEvent;
    const std::uint32_t lane = lane_of_stream(like, details.awaited_stream);
    if (lane == kNoEvent) return kNoEvent;
    const std::int64_t recorded = trace_.start_ns[record->second];
    const auto it = std::ranges::partition_point(launches_[lane], [&](std::uint32_t e) {
      return trace_.start_ns[links_.call[e]] < recorded;
    });
    return it == launches_[lane].begin() ? kNoEvent : *std::prev(it);
  }

  // The next work that the thread of a wait call launches on the waiting stream; kNoEvent.
  [[nodiscard]] std::uint32_t work_after(std::uint32_t wait) const {
    const std::uint32_t call = links_.call[wait];
    if (call == kNoEvent) return kNoEvent;
    const std::uint32_t lane =
        lane_of_stream(trace_.lane[wait], trace_.synchronizations[trace_.details[wait]].stream);
    if (lane == kNoEvent) return kNoEvent;
    auto it = std::ranges::partition_point(launches_[lane], [&](std::uint32_t e) {
      return trace_.start_ns[links_.call[e]] < trace_.start_ns[call];
    });
    while (it != launches_[lane].end() && trace_.lane[links_.call[*it]] != trace_.lane[call]) {
      ++it;
    }
    return it == launches_[lane].end() ? kNoEvent : *it;
  }

  void add_streams() {
    struct Next {
      std::int64_t time_ns;
      std::uint32_t event;
    };
    std::vector<Next> order;
    for (const std::uint32_t e : chosen_) {
      if (is_device_work(trace_.kind[e])) order.push_back({trace_.start_ns[e], e});
    }
    for (const std::uint32_t e : synchronizations_) order.push_back({trace_.end_ns(e), e});
    std::ranges::stable_sort(order, [&](const Next& a, const Next& b) {
      return std::tuple(a.time_ns, trace_.place[a.event]) <
             std::tuple(b.time_ns, trace_.place[b.event]);
    });
    last_of_lane_.assign(trace_.lanes.size(), kNoEvent);
    for (const Next& next : order) {
      if (trace_.kind[next.event] == EventKind::synchronization) {
        add_synchronization(next.event);
      } else {
        add_work(next.event);
      }
    }
  }

  void add_wait_of_host(std::uint32_t last_point, std::uint32_t synchronization) {
    const std::uint32_t call = links_.call[synchronization];
    if (last_point == kNoEvent || call == kNoEvent || graph_.end_of[call] == kNoEvent) return;
    add_edge(last_point, graph_.end_of[call], PathEdge::Kind::synchronization, false);
  }

  void add_synchronization(std::uint32_t e) {
    if (trace_.details[e] == kNoDetails) return;
    const SynchronizationDetails& details = trace_.synchronizations[trace_.details[e]];
    const std::string_view text = trace_.name_of(e);
    if (text == "Stream Wait Event") {
      const std::uint32_t source = work_before(details, trace_.lane[e]);
      const std::uint32_t target = work_after(e);
      if (source != kNoEvent && target != kNoEvent) awaited_[target] = source;
    } else if (text == "Event Sync") {
      const std::uint32_t source = work_before(details, trace_.lane[e]);
      if (source != kNoEvent) add_wait_of_host(graph_.end_of[source], e);
    } else if (text == "Stream Sync") {
      const std::uint32_t lane = lane_of_stream(trace_.lane[e], details.stream);
      if (lane != kNoEvent) add_wait_of_host(last_of_lane_[lane], e);
    } else if (text == "Context Sync") {
      for (const std::uint32_t last : last_of_lane_) add_wait_of_host(last, e);
    }
  }

  void add_work(std::uint32_t e) {
    const std::uint32_t start = graph_.start_of[e];
    const std::uint32_t end = graph_.end_of[e];
    const std::uint32_t call = links_.call[e];
    add_edge(start, end, PathEdge::Kind::operation, true, e);

    std::uint32_t source = kNoEvent;  // point
    if (const auto it = awaited_.find(e); it != awaited_.end()) {
      source = graph_.end_of[it->second];
      if (source != kNoEvent && trace_.lane[it->second] != trace_.lane[e]) {
        add_edge(source, start, PathEdge::Kind::synchronization, false);
      }
    }
    const std::uint32_t previous = last_of_lane_[trace_.lane[e]];
    const auto ended_before = [&](std::uint32_t what, std::int64_t moment) {
      return what == kNoEvent || point(what).time_ns < moment;
    };
    const std::int64_t launched = trace_.start_ns[call];
    const bool alone = queues_[call] == 1 && queues_[e] == 0 && ended_before(previous, launched) &&
                       ended_before(source, launched);
    const std::uint32_t call_start = graph_.start_of[call];
    if (!alone && previous != kNoEvent && ended_before(source, point(previous).time_ns) &&
        trace_.start_ns[e] - point(previous).time_ns < kLongestKernelGapNs) {
      add_edge(previous, start, PathEdge::Kind::kernel_gap, true, point(previous).event);
    }
    if (call_start != kNoEvent) {
      add_edge(call_start, start, PathEdge::Kind::launch_delay, alone, call);
    }
    last_of_lane_[trace_.lane[e]] = end;
  }

  const RecordedTrace& trace_;
  const LaunchLinks& links_;
  PathGraph graph_;
  std::vector<std::uint32_t> host_;    // what begins in the window, with annotations
  std::vector<std::uint32_t> chosen_;  // events that have points
  std::vector<std::uint32_t> synchronizations_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> stream_lanes_;
  std::unordered_map<std::int64_t, std::uint32_t> records_;  // calls by correlation
  std::vector<std::vector<std::uint32_t>> launches_;         // of a lane, by start of the call
  std::vector<std::int64_t> queues_;                         // length after a call, or work
  std::vector<std::uint32_t> last_of_lane_;                  // points
  std::unordered_map<std::uint32_t, std::uint32_t> awaited_;
};

}  // namespace

PathGraph path_graph(const RecordedTrace& trace, const LaunchLinks& links, Interval window) {
  return Builder(trace, links, window).build();
}

}  // namespace orrery
