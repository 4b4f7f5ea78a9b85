#include "trace/chakra/host_pauses.h"

#include <algorithm>
#include <limits>

#include "trace/pytorch_et/host_link.h"

namespace orrery {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

bool is_operator(const RecordedTrace& recorded, std::uint32_t e) {
  return is_host_operator(recorded, e) &&
         recorded.name_of(e).find("ProfilerStep") == std::string_view::npos;
}

// Of each event the innermost operator of its thread that covers its start, or kNoEvent.
std::vector<std::uint32_t> operators_around(const RecordedTrace& recorded) {
  std::vector<std::uint32_t> out(recorded.size(), kNoEvent);
  std::vector<std::vector<std::uint32_t>> open(recorded.lanes.size());
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    std::vector<std::uint32_t>& stack = open[recorded.lane[e]];
    while (!stack.empty() && recorded.end_ns(stack.back()) <= recorded.start_ns[e]) {
      stack.pop_back();
    }
    if (!stack.empty()) out[e] = stack.back();
    if (is_operator(recorded, e)) stack.push_back(e);
  }
  return out;
}

// Books the time from `begin` to `end`, in which a thread only waited for another one, on the
// operators that were open: `open` holds the outermost first.
void wait_inside(const RecordedTrace& recorded, const std::vector<std::uint32_t>& open,
                 std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& waiting_ns) {
  for (auto it = open.rbegin(); it != open.rend() && begin < end; ++it) {
    const std::int64_t until = std::min(end, recorded.end_ns(*it));
    if (until <= begin) continue;
    waiting_ns[*it] += until - begin;
    begin = until;
  }
}

}  // namespace

HostPauses host_pauses(const RecordedTrace& recorded, const HostOrder& order,
                       std::span<const SynchronizationEdge> edges) {
  HostPauses out;
  out.before_ns.assign(recorded.size(), 0);
  out.waiting_ns.assign(recorded.size(), 0);
  const std::vector<std::uint32_t> around = operators_around(recorded);
  std::vector<std::int64_t> waited(recorded.size(), 0);         // of each call
  std::vector<std::int64_t> work_end(recorded.size(), kNever);  // awaited by each operator
  for (const SynchronizationEdge& edge : edges) {
    const std::int64_t end = std::min(recorded.end_ns(edge.work), recorded.end_ns(edge.call));
    waited[edge.call] = std::max(waited[edge.call], end - recorded.start_ns[edge.call]);
    work_end[edge.next_operator] =
        std::max(work_end[edge.next_operator], recorded.end_ns(edge.work));
  }
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    if (waited[e] > 0 && around[e] != kNoEvent) out.waiting_ns[around[e]] += waited[e];
  }
  struct Thread {
    std::int64_t covered = kNever;       // end of what it did so far
    std::int64_t previous_end = kNever;  // of the operator that started last
    std::vector<std::uint32_t> open;
  };
  std::vector<Thread> threads(recorded.lanes.size());
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    if (!is_operator(recorded, e)) continue;
    Thread& thread = threads[recorded.lane[e]];
    const std::int64_t start = recorded.start_ns[e];
    std::int64_t from = thread.covered;
    if (order.after_event[e] != kNoDetails) {
      const std::int64_t other = std::min(start, recorded.end_ns(order.after_event[e]));
      const bool begins = thread.previous_end == kNever || start > thread.previous_end;
      if (begins && thread.previous_end != kNever) {
        wait_inside(recorded, thread.open, thread.previous_end, other, out.waiting_ns);
      }
      if (begins) from = std::max(from, other);
    }
    from = std::max(from, std::min(start, work_end[e]));
    // What begins a thread and follows nothing begins at its recorded start.
    if (from != kNever && start > from) out.before_ns[e] = start - from;
    thread.covered = std::max(thread.covered, recorded.end_ns(e));
    thread.previous_end = recorded.end_ns(e);
    while (!thread.open.empty() && recorded.end_ns(thread.open.back()) <= start) {
      thread.open.pop_back();
    }
    thread.open.push_back(e);
  }
  return out;
}

}  // namespace orrery
