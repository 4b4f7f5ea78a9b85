#include "trace/clock_alignment.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace orrery {
namespace {

// What is known of one rank against those that are aligned already.
struct Evidence {
  std::vector<std::int64_t> end_differences;
  std::int64_t least = std::numeric_limits<std::int64_t>::min() / 2;
  std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
};

std::int64_t median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

ClockOffset offset_of(Evidence& evidence) {
  ClockOffset clock;
  clock.instances = static_cast<std::int64_t>(evidence.end_differences.size());
  clock.median_ns = median(evidence.end_differences);
  for (std::int64_t& difference : evidence.end_differences) {
    difference = std::abs(difference - clock.median_ns);
  }
  clock.spread_ns = median(evidence.end_differences);
  clock.violation_ns = std::max({std::int64_t{0}, evidence.least, -evidence.most});
  if (clock.violation_ns == 0) return clock;
  if (evidence.least <= evidence.most) {
    clock.offset_ns = std::clamp(clock.median_ns, evidence.least, evidence.most);
  } else if (std::abs(clock.median_ns) > 2 * clock.spread_ns) {
    clock.offset_ns = clock.median_ns;
  }
  return clock;
}

}  // namespace

std::vector<ClockOffset> clock_offsets(std::span<const RecordedTrace> traces,
                                       std::span<const CollectiveInstance> instances) {
  std::vector<ClockOffset> clocks(traces.size());
  std::vector<Evidence> evidence(traces.size());
  std::vector<bool> aligned(traces.size(), false);
  std::vector<bool> used(instances.size(), false);
  std::vector<std::vector<std::uint32_t>> instances_of(traces.size());
  for (std::uint32_t i = 0; i < instances.size(); ++i) {
    const CollectiveMember& any = instances[i].members.front();
    if (instances[i].members.size() < 2) continue;
    if (instances[i].point_to_point || is_point_to_point(traces[any.trace], any.event)) continue;
    for (const CollectiveMember& member : instances[i].members) {
      instances_of[member.trace].push_back(i);
    }
  }

  const auto add = [&](const CollectiveMember& reference, const CollectiveMember& other) {
    const RecordedTrace& a = traces[reference.trace];
    const RecordedTrace& b = traces[other.trace];
    const std::int64_t shift = clocks[reference.trace].offset_ns;
    Evidence& known = evidence[other.trace];
    known.end_differences.push_back(a.end_ns(reference.event) + shift - b.end_ns(other.event));
    known.least =
        std::max(known.least, a.start_ns[reference.event] + shift - b.end_ns(other.event));
    known.most = std::min(known.most, a.end_ns(reference.event) + shift - b.start_ns[other.event]);
  };
  const auto align = [&](std::size_t rank) {
    aligned[rank] = true;
    for (const std::uint32_t i : instances_of[rank]) {
      if (used[i]) continue;
      used[i] = true;
      const auto& members = instances[i].members;
      const auto self = std::find_if(members.begin(), members.end(),
                                     [&](const auto& member) { return member.trace == rank; });
      for (const CollectiveMember& member : members) {
        if (!aligned[member.trace]) add(*self, member);
      }
    }
  };
  for (std::size_t count = 0; count < traces.size(); ++count) {
    std::size_t next = traces.size();
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      if (aligned[rank]) continue;
      if (next == traces.size() ||
          evidence[rank].end_differences.size() > evidence[next].end_differences.size()) {
        next = rank;
      }
    }
    if (!evidence[next].end_differences.empty()) clocks[next] = offset_of(evidence[next]);
    align(next);
  }
  return clocks;
}

void shift_clock(RecordedTrace& trace, std::int64_t offset_ns) {
  if (offset_ns == 0) return;
  for (std::int64_t& start : trace.start_ns) start += offset_ns;
  for (MemoryEvent& event : trace.memory) event.time_ns += offset_ns;
}

}  // namespace orrery
