#include "trace/repeated_events.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "trace/kept_events.h"

namespace orrery {
namespace {

constexpr std::int64_t kRoundingNs = 1000;  // of whole microseconds

// 0 and -1 stand where writers know none.
bool names_one(std::int64_t id) { return id > 0; }

// Whether times are finer than the whole microseconds of files of before April 2024.
bool has_nanoseconds(const RecordedTrace& trace) {
  const auto fine = [](std::int64_t ns) { return ns % kRoundingNs != 0; };
  return std::ranges::any_of(trace.start_ns, fine) || std::ranges::any_of(trace.duration_ns, fine);
}

// Whether no other event can agree with it by chance.
bool is_told_apart(const RecordedTrace& trace, std::size_t e, bool nanoseconds) {
  const std::int64_t takes = trace.duration_ns[e];
  if (is_device_work(trace.kind[e])) return takes > (nanoseconds ? 0 : kRoundingNs);
  // Spans of annotations on a device end with their kernels: one inside another of its name agrees.
  const bool one_at_a_time = nanoseconds && !trace.lanes[trace.lane[e]].device;
  return takes > 0 &&
         (one_at_a_time || names_one(trace.correlation[e]) || names_one(trace.external_id[e]));
}

// What two events of the same start and duration agree in if they are one.
auto identity(const RecordedTrace& trace, std::size_t e) {
  SynchronizationDetails s;
  const bool synchronizes =
      trace.kind[e] == EventKind::synchronization || trace.kind[e] == EventKind::event_record;
  if (synchronizes && trace.details[e] != kNoDetails) s = trace.synchronizations[trace.details[e]];
  return std::tuple(trace.lane[e], trace.kind[e], trace.name[e], trace.correlation[e],
                    trace.external_id[e], s.stream, s.awaited_stream, s.record_correlation,
                    s.event);
}

// An event that agrees with others before it in the file.
struct RepeatedEvent {
  std::uint32_t event = 0;
  std::int64_t before = 0;  // how many
  std::int64_t alike = 0;   // with those behind it and itself
};

std::vector<RepeatedEvent> copies(const RecordedTrace& trace) {
  std::vector<RepeatedEvent> out;
  std::vector<std::uint32_t> run;  // of one start and duration
  const std::size_t n = trace.size();
  for (std::size_t first = 0; first < n;) {
    std::size_t end = first + 1;
    if (end == n || trace.start_ns[end] != trace.start_ns[first] ||
        trace.duration_ns[end] != trace.duration_ns[first]) {
      first = end;  // as most are
      continue;
    }
    while (end < n && trace.start_ns[end] == trace.start_ns[first] &&
           trace.duration_ns[end] == trace.duration_ns[first]) {
      ++end;
    }
    run.resize(end - first);
    std::iota(run.begin(), run.end(), static_cast<std::uint32_t>(first));
    // Equal ones stay in the order of the file.
    std::ranges::stable_sort(run, [&](std::uint32_t a, std::uint32_t b) {
      return identity(trace, a) < identity(trace, b);
    });
    for (auto it = run.begin(); it != run.end();) {
      const auto other = std::find_if(it, run.end(), [&](std::uint32_t e) {
        return identity(trace, e) != identity(trace, *it);
      });
      for (auto copy = it + 1; copy < other; ++copy) out.push_back({*copy, copy - it, other - it});
      it = other;
    }
    first = end;
  }
  return out;
}

// Of `alike` events that may agree by chance, as many stay as there are without copies.
std::int64_t stay(std::int64_t alike, std::int64_t times) { return 1 + (alike - 1) / times; }

std::int64_t leave_out_repeated_memory(std::vector<MemoryEvent>& events, std::int64_t times) {
  using Identity =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;
  const auto identity = [](const MemoryEvent& e) {
    return Identity(e.time_ns, e.address, e.bytes, e.allocated_bytes, e.reserved_bytes, e.device);
  };
  std::map<Identity, std::int64_t> alike;
  for (const MemoryEvent& e : events) ++alike[identity(e)];
  for (auto& [of, count] : alike) count = stay(count, times);
  return static_cast<std::int64_t>(
      std::erase_if(events, [&](const MemoryEvent& e) { return alike[identity(e)]-- <= 0; }));
}

}  // namespace

void leave_out_repeated(RecordedTrace& trace) {
  const std::vector<RepeatedEvent> found = copies(trace);
  if (found.empty()) return;
  const bool nanoseconds = has_nanoseconds(trace);
  const auto sure_of = [&](std::size_t e) { return is_told_apart(trace, e, nanoseconds); };
  const std::int64_t sure =
      std::ranges::count_if(found, [&](const RepeatedEvent& c) { return sure_of(c.event); });
  if (sure == 0) return;
  std::int64_t told_apart = 0;
  for (std::size_t e = 0; e < trace.size(); ++e) told_apart += sure_of(e) ? 1 : 0;
  const std::int64_t times =
      std::llround(static_cast<double>(told_apart) / static_cast<double>(told_apart - sure));
  std::vector<bool> kept(trace.size(), true);
  for (const RepeatedEvent& copy : found) {
    if (!sure_of(copy.event) && copy.before < stay(copy.alike, times)) continue;
    kept[copy.event] = false;
    ++trace.repeated;
    if (trace.kind[copy.event] == EventKind::kernel) ++trace.repeated_kernels;
  }
  keep_events(trace, kept);
  const std::int64_t of_memory = nanoseconds ? std::numeric_limits<std::int64_t>::max() : times;
  if (of_memory > 1) trace.repeated += leave_out_repeated_memory(trace.memory, of_memory);
}

std::int64_t overlapping_kernels(const RecordedTrace& trace) {
  std::vector<std::int64_t> end_ns(trace.lanes.size(),
                                   std::numeric_limits<std::int64_t>::min() + kRoundingNs);
  std::int64_t out = 0;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::kernel) continue;
    std::int64_t& end = end_ns[trace.lane[e]];
    if (trace.start_ns[e] < end - kRoundingNs) ++out;
    end = std::max(end, trace.end_ns(e));
  }
  return out;
}

}  // namespace orrery
