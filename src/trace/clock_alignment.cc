#include "trace/clock_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "trace/recorded_time.h"

namespace orrery {
namespace {

// What is known of one rank against those that are aligned already.
struct Evidence {
  std::vector<std::int64_t> end_differences;
  std::int64_t least = std::numeric_limits<std::int64_t>::min() / 2;
  std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  // Of messages, each: a window cut on one rank may pair a few wrongly.
  std::vector<std::int64_t> at_least;
  std::vector<std::int64_t> at_most;
};

struct MetKernel {
  std::uint32_t trace = 0;
  std::uint32_t event = 0;
};

struct KernelMessage {
  MetKernel from;
  MetKernel to;
};

std::vector<KernelMessage> messages(const CollectiveInstance& instance) {
  const CollectiveMember& first = instance.members.front();
  const MetKernel self = {first.trace, first.event};
  std::vector<KernelMessage> found;
  const auto add = [&](const MetKernel& other, bool sends) {
    found.push_back(sends ? KernelMessage{other, self} : KernelMessage{self, other});
  };
  for (std::size_t i = 1; i < instance.members.size(); ++i) {
    const CollectiveMember& other = instance.members[i];
    // Of messages that nothing names, who sends is not known.
    if (first.sends != other.sends) add({other.trace, other.event}, other.sends);
  }
  for (const ExchangePartner& partner : instance.partners) {
    add({partner.trace, partner.event}, partner.sends);
  }
  return found;
}

// Bounds that nine messages of ten keep.
void bound_by_messages(Evidence& evidence) {
  constexpr std::size_t kTenth = 10;
  auto& least = evidence.at_least;
  if (!least.empty()) {
    const auto at = least.end() - 1 - static_cast<std::ptrdiff_t>(least.size() / kTenth);
    std::nth_element(least.begin(), at, least.end());
    evidence.least = std::max(evidence.least, *at);
  }
  auto& most = evidence.at_most;
  if (!most.empty()) {
    const auto at = most.begin() + static_cast<std::ptrdiff_t>(most.size() / kTenth);
    std::nth_element(most.begin(), at, most.end());
    evidence.most = std::min(evidence.most, *at);
  }
}

ClockOffset offset_of(Evidence& evidence) {
  bound_by_messages(evidence);
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
  std::vector<Evidence> of_messages(traces.size());  // where there is no other
  std::vector<bool> aligned(traces.size(), false);
  std::vector<bool> used(instances.size(), false);
  std::vector<std::vector<std::uint32_t>> instances_of(traces.size());
  std::vector<std::vector<KernelMessage>> messages_of(traces.size());
  for (std::uint32_t i = 0; i < instances.size(); ++i) {
    if (instances[i].point_to_point) {
      for (const KernelMessage& message : messages(instances[i])) {
        messages_of[message.from.trace].push_back(message);
        messages_of[message.to.trace].push_back(message);
      }
    }
    if (instances[i].members.size() < 2 || instances[i].point_to_point) continue;
    for (const CollectiveMember& member : instances[i].members) {
      instances_of[member.trace].push_back(i);
    }
  }

  enum class Holds : std::uint8_t { both, first_before_second, second_before_first };
  const auto add = [&](Evidence& known, const MetKernel& reference, const MetKernel& other,
                       Holds holds) {
    const RecordedTrace& a = traces[reference.trace];
    const RecordedTrace& b = traces[other.trace];
    const std::int64_t shift = clocks[reference.trace].offset_ns;
    known.end_differences.push_back(a.end_ns(reference.event) + shift - b.end_ns(other.event));
    const std::int64_t least = a.start_ns[reference.event] + shift - b.end_ns(other.event);
    const std::int64_t most = a.end_ns(reference.event) + shift - b.start_ns[other.event];
    if (holds == Holds::first_before_second) {
      known.at_least.push_back(least);
    } else if (holds == Holds::second_before_first) {
      known.at_most.push_back(most);
    } else {
      known.least = std::max(known.least, least);
      known.most = std::min(known.most, most);
    }
  };
  const auto align = [&](std::size_t rank) {
    aligned[rank] = true;
    for (const std::uint32_t i : instances_of[rank]) {
      if (used[i]) continue;
      used[i] = true;
      const auto& members = instances[i].members;
      const auto self =
          std::ranges::find_if(members, [&](const auto& member) { return member.trace == rank; });
      for (const CollectiveMember& member : members) {
        if (aligned[member.trace]) continue;
        add(evidence[member.trace], {self->trace, self->event}, {member.trace, member.event},
            Holds::both);
      }
    }
    for (const auto& [from, to] : messages_of[rank]) {
      // Whether the sender stayed until the receiver came is not known: it may have a buffer.
      if (from.trace == rank && !aligned[to.trace]) {
        add(of_messages[to.trace], from, to, Holds::first_before_second);
      } else if (to.trace == rank && !aligned[from.trace]) {
        add(of_messages[from.trace], to, from, Holds::second_before_first);
      }
    }
  };
  const auto found = [&](std::size_t rank) {
    return std::pair(evidence[rank].end_differences.size(),
                     of_messages[rank].end_differences.size());
  };
  for (std::size_t count = 0; count < traces.size(); ++count) {
    std::size_t next = traces.size();
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      if (aligned[rank]) continue;
      if (next == traces.size() || found(rank) > found(next)) next = rank;
    }
    Evidence& known = evidence[next].end_differences.empty() ? of_messages[next] : evidence[next];
    if (!known.end_differences.empty()) clocks[next] = offset_of(known);
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
