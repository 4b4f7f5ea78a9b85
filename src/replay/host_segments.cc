#include "replay/host_segments.h"

#include <algorithm>
#include <unordered_set>

namespace orrery {
namespace {

bool is_boundary(EventKind kind) {
  return kind == EventKind::cpu_operator || kind == EventKind::annotation ||
         kind == EventKind::runtime_call;
}

struct LaneEvents {
  std::vector<std::uint32_t> events;  // ascending by start, enclosing first
  bool decides = false;
};

HostThread flattened(const RecordedTrace& trace, std::uint32_t lane,
                     const std::vector<std::uint32_t>& events) {
  HostThread thread;
  thread.lane = lane;
  std::vector<std::int64_t> times;
  times.reserve(events.size() * 2);
  std::int64_t call_end = std::numeric_limits<std::int64_t>::min();
  for (const std::uint32_t e : events) {
    if (trace.kind[e] != EventKind::runtime_call || trace.start_ns[e] < call_end) continue;
    thread.calls.push_back(e);
    call_end = trace.end_ns(e);
  }
  // Starts are in order already, ends nearly are.
  std::vector<std::int64_t> ends;
  ends.reserve(events.size());
  for (const std::uint32_t e : events) ends.push_back(trace.end_ns(e));
  std::ranges::sort(ends);
  auto end_of = ends.begin();
  for (const std::uint32_t e : events) {
    for (; *end_of < trace.start_ns[e]; ++end_of) times.push_back(*end_of);
    times.push_back(trace.start_ns[e]);
  }
  times.insert(times.end(), end_of, ends.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());

  thread.segments.reserve(times.size());
  std::vector<std::uint32_t> open;  // operators and annotations, innermost last
  std::size_t operators_open = 0;
  const auto close_until = [&](std::int64_t time) {
    while (!open.empty() && trace.end_ns(open.back()) <= time) {
      if (trace.kind[open.back()] == EventKind::cpu_operator) --operators_open;
      open.pop_back();
    }
  };
  auto next = events.begin();
  auto call = thread.calls.begin();
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    std::int64_t const begin = times[i];
    std::int64_t end = times[i + 1];
    for (; next != events.end() && trace.start_ns[*next] <= begin; ++next) {
      close_until(trace.start_ns[*next]);
      if (trace.kind[*next] == EventKind::runtime_call || trace.end_ns(*next) <= begin) continue;
      open.push_back(*next);
      if (trace.kind[*next] == EventKind::cpu_operator) ++operators_open;
    }
    close_until(begin);
    while (call != thread.calls.end() && trace.end_ns(*call) <= begin) {
      // A call without duration is a segment of its own: it launches nevertheless.
      if (trace.duration_ns[*call] == 0) thread.segments.push_back({begin, begin, *call, true});
      ++call;
    }
    if (call != thread.calls.end() && trace.start_ns[*call] == begin) {
      end = trace.end_ns(*call);
      thread.segments.push_back({begin, end, *call, true});
      ++call;
      while (i + 2 < times.size() && times[i + 1] < end) ++i;
      continue;
    }
    thread.segments.push_back(
        {begin, end, open.empty() ? 0xffffffff : open.back(), false, operators_open == 0});
  }
  for (; call != thread.calls.end(); ++call) {
    if (trace.duration_ns[*call] != 0 || times.empty()) continue;
    thread.segments.push_back({times.back(), times.back(), *call, true});
  }
  return thread;
}

}  // namespace

std::size_t HostThread::last_ended_by(std::int64_t time_ns) const {
  const auto after = std::ranges::upper_bound(segments, time_ns, {}, &HostSegment::end_ns);
  return after == segments.begin() ? segments.size()
                                   : static_cast<std::size_t>(after - segments.begin()) - 1;
}

std::vector<HostThread> host_threads(const RecordedTrace& trace) {
  std::vector<LaneEvents> lanes(trace.lanes.size());
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    LaneEvents& lane = lanes[trace.lane[e]];
    if (trace.lanes[trace.lane[e]].device || !is_boundary(trace.kind[e])) continue;
    lane.events.push_back(e);
    if (trace.kind[e] != EventKind::runtime_call) lane.decides = true;
  }
  // A thread of calls alone counts if it launches.
  const bool calls_alone = std::ranges::any_of(
      lanes, [](const LaneEvents& lane) { return !lane.decides && !lane.events.empty(); });
  std::unordered_set<std::int64_t> launched;
  for (std::size_t e = 0; calls_alone && e < trace.size(); ++e) {
    if (is_device_work(trace.kind[e]) && trace.correlation[e] != kNotRecorded) {
      launched.insert(trace.correlation[e]);
    }
  }
  for (LaneEvents& lane : lanes) {
    lane.decides = lane.decides || std::ranges::any_of(lane.events, [&](std::uint32_t e) {
                     return launched.count(trace.correlation[e]) != 0;
                   });
  }
  std::vector<HostThread> threads;
  for (std::uint32_t l = 0; l < lanes.size(); ++l) {
    if (!lanes[l].decides) continue;
    threads.push_back(flattened(trace, l, lanes[l].events));
    if (threads.back().segments.empty()) threads.pop_back();
  }
  return threads;
}

std::size_t main_thread(const RecordedTrace& trace, const std::vector<HostThread>& threads) {
  std::vector<std::size_t> steps(trace.lanes.size(), 0);
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] == EventKind::annotation && trace.name_of(e).starts_with("ProfilerStep")) {
      ++steps[trace.lane[e]];
    }
  }
  std::size_t best = 0;
  for (std::size_t t = 1; t < threads.size(); ++t) {
    const auto rank = [&](std::size_t i) {
      return std::pair(steps[threads[i].lane], threads[i].segments.size());
    };
    if (rank(t) > rank(best)) best = t;
  }
  return best;
}

}  // namespace orrery
