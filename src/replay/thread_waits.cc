#include "replay/thread_waits.h"

#include <algorithm>
#include <optional>

namespace orrery {
namespace {

constexpr std::int64_t kSignificantIdleNs = 100'000;

struct Stretch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// Maximal stretches in which a thread is idle long enough to wait for somebody.
std::vector<Stretch> idle_stretches(const HostThread& thread) {
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < thread.segments.size();) {
    std::size_t end = i;
    while (end < thread.segments.size() && thread.segments[end].idle) ++end;
    if (end > i) {
      const Stretch stretch{thread.segments[i].start_ns, thread.segments[end - 1].end_ns};
      if (stretch.end_ns - stretch.start_ns >= kSignificantIdleNs) stretches.push_back(stretch);
    }
    i = end + 1;
  }
  return stretches;
}

// The complement within the thread's recording: when it works, with short pauses.
std::vector<Stretch> busy_stretches(const HostThread& thread, const std::vector<Stretch>& idle) {
  std::vector<Stretch> busy;
  std::int64_t from = thread.segments.front().start_ns;
  for (const Stretch& s : idle) {
    if (s.start_ns > from) busy.push_back({from, s.start_ns});
    from = s.end_ns;
  }
  if (thread.segments.back().end_ns > from) busy.push_back({from, thread.segments.back().end_ns});
  return busy;
}

struct Join {
  std::size_t other = 0;
  std::int64_t hand_over_ns = 0;
  std::int64_t done_ns = 0;
};

void cut(HostThread& thread, std::int64_t time_ns) {
  const auto at = std::ranges::upper_bound(thread.segments, time_ns, {}, &HostSegment::end_ns);
  if (at == thread.segments.end() || at->start_ns >= time_ns || at->call) return;
  HostSegment before = *at;
  before.end_ns = time_ns;
  at->start_ns = time_ns;
  thread.segments.insert(at, before);
}

// The segment that begins at or after a time.
std::size_t first_from(const HostThread& thread, std::int64_t time_ns) {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(thread.segments, time_ns, {}, &HostSegment::start_ns) -
      thread.segments.begin());
}

void mark_waiting(HostThread& thread, std::int64_t from_ns, std::int64_t to_ns) {
  for (std::size_t i = first_from(thread, from_ns);
       i < thread.segments.size() && thread.segments[i].end_ns <= to_ns; ++i) {
    if (thread.segments[i].idle) thread.segments[i].waits = true;
  }
}

}  // namespace

std::vector<ThreadWait> thread_waits(std::vector<HostThread>& threads, std::size_t main) {
  std::vector<std::vector<Stretch>> busy(threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t) {
    if (t != main) busy[t] = busy_stretches(threads[t], idle_stretches(threads[t]));
  }
  std::vector<Join> joins;
  for (const Stretch& gap : idle_stretches(threads[main])) {
    std::optional<Join> best;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      if (t == main) continue;
      const auto first = std::ranges::lower_bound(busy[t], gap.start_ns, {}, &Stretch::start_ns);
      // Busy when the gap began: it was not woken by it.
      if (first != busy[t].begin() && std::prev(first)->end_ns > gap.start_ns) continue;
      auto after = first;
      while (after != busy[t].end() && after->end_ns <= gap.end_ns) ++after;
      if (after == first || (after != busy[t].end() && after->start_ns < gap.end_ns)) continue;
      const Join join{t, first->start_ns, std::prev(after)->end_ns};
      if (!best || join.done_ns > best->done_ns) best = join;
    }
    if (best) joins.push_back(*best);
  }
  // Latest first, so that what is inserted moves nothing that is still to be cut.
  for (auto join = joins.rbegin(); join != joins.rend(); ++join) {
    cut(threads[main], join->done_ns);
    cut(threads[main], join->hand_over_ns);
  }

  std::vector<ThreadWait> waits;
  const auto add = [&](std::size_t from, std::size_t from_segment, std::size_t to,
                       std::size_t to_segment, std::int64_t lag) {
    if (from_segment >= threads[from].segments.size()) return;
    if (to_segment >= threads[to].segments.size()) return;
    waits.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(from_segment),
                     static_cast<std::uint32_t>(to), static_cast<std::uint32_t>(to_segment), lag});
  };
  for (const Join& join : joins) {
    mark_waiting(threads[main], join.hand_over_ns, join.done_ns);
    add(join.other, threads[join.other].last_ended_by(join.done_ns), main,
        first_from(threads[main], join.done_ns), 0);
  }
  for (std::size_t t = 0; t < threads.size(); ++t) {
    if (t == main) continue;
    for (std::size_t b = 0; b < busy[t].size(); ++b) {
      const std::int64_t begin = busy[t][b].start_ns;
      const std::size_t source = threads[main].last_ended_by(begin);
      if (source >= threads[main].segments.size()) continue;
      // Within a join only the first stretch is woken; pauses between the others are its own.
      const bool inside = std::ranges::any_of(joins, [&](const Join& join) {
        return join.other == t && begin > join.hand_over_ns && begin < join.done_ns;
      });
      if (inside) continue;
      mark_waiting(threads[t],
                   b == 0 ? threads[t].segments.front().start_ns : busy[t][b - 1].end_ns, begin);
      add(main, source, t, first_from(threads[t], begin),
          begin - threads[main].segments[source].end_ns);
    }
  }
  return waits;
}

}  // namespace orrery
