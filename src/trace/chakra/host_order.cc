#include "trace/chakra/host_order.h"

#include <algorithm>

#include "trace/pytorch_et/host_link.h"

namespace orrery {
namespace {

constexpr std::int64_t kGroupGapNs = 1'000'000;

}  // namespace

HostOrder host_order(const RecordedTrace& recorded) {
  HostOrder out;
  out.own_ns.assign(recorded.size(), 0);
  out.after_event.assign(recorded.size(), kNoDetails);

  std::vector<std::uint32_t> operators;  // by start
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    if (is_host_operator(recorded, e) &&
        recorded.name_of(e).find("ProfilerStep") == std::string_view::npos) {
      operators.push_back(e);
    }
  }
  // The position of the last operator before each one that is of another thread.
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> before(operators.size(), kNone);
  for (std::size_t i = 1; i < operators.size(); ++i) {
    before[i] =
        recorded.lane[operators[i]] == recorded.lane[operators[i - 1]] ? before[i - 1] : i - 1;
  }
  const auto last_of_another_thread = [&](std::uint32_t event) {
    const auto it = std::ranges::lower_bound(operators, recorded.start_ns[event], {},
                                             [&](std::uint32_t e) { return recorded.start_ns[e]; });
    if (it == operators.begin()) return kNoDetails;
    const auto last = static_cast<std::size_t>(it - operators.begin()) - 1;
    if (recorded.lane[operators[last]] != recorded.lane[event]) return operators[last];
    return before[last] == kNone ? kNoDetails : operators[before[last]];
  };

  struct Thread {
    bool begun = false;
    std::int64_t previous_end = 0;
    std::uint32_t after = kNoDetails;
    // Open operators and how far what they enclose has covered them.
    std::vector<std::pair<std::uint32_t, std::int64_t>> open;
  };
  std::vector<Thread> threads(recorded.lanes.size());
  for (const std::uint32_t e : operators) {
    Thread& thread = threads[recorded.lane[e]];
    const std::int64_t start = recorded.start_ns[e];
    const std::int64_t end = recorded.end_ns(e);
    if (!thread.begun || start - thread.previous_end > kGroupGapNs) {
      thread.after = last_of_another_thread(e);
    }
    thread.begun = true;
    thread.previous_end = end;
    out.after_event[e] = thread.after;

    out.own_ns[e] = end - start;
    while (!thread.open.empty() && recorded.end_ns(thread.open.back().first) < end) {
      thread.open.pop_back();
    }
    if (!thread.open.empty()) {
      auto& [parent, covered] = thread.open.back();
      const std::int64_t from = std::max(start, covered);
      if (end > from) out.own_ns[parent] -= end - from;
      covered = std::max(covered, end);
    }
    thread.open.emplace_back(e, start);
  }
  return out;
}

}  // namespace orrery
