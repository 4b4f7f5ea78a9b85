#include "forecast/run_timeline.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

constexpr auto kUndone = static_cast<std::size_t>(Badput::wasted_progress_from_disruption);

// The last `ns` of training is undone.
void undo(std::vector<RunStretch>& stretches, std::int64_t ns) {
  for (std::size_t i = stretches.size(); ns > 0 && i-- > 0;) {
    RunStretch& head = stretches[i];
    const std::int64_t trained = head.productive_ns();
    const std::int64_t undone = std::min(ns, trained);
    ns -= undone;
    if (undone == trained) {
      head.lost_ns[kUndone] += undone;
      continue;
    }
    // Steps that a failure cut short come last; the other losses are spread evenly.
    RunStretch tail = head;
    tail.lost_ns[kUndone] = std::exchange(head.lost_ns[kUndone], 0) + undone;
    const double share = static_cast<double>(undone) / static_cast<double>(trained);
    for (std::size_t b = 0; b < kBadputs; ++b) {
      if (b == kUndone) continue;
      tail.lost_ns[b] = std::llround(share * static_cast<double>(head.lost_ns[b]));
      head.lost_ns[b] -= tail.lost_ns[b];
    }
    head.end_ns = tail.start_ns =
        head.end_ns - std::accumulate(tail.lost_ns.begin(), tail.lost_ns.end(), std::int64_t{0});
    head.interrupted = false;
    stretches.insert(stretches.begin() + static_cast<std::ptrdiff_t>(i) + 1, tail);
  }
}

}  // namespace

std::int64_t RunStretch::productive_ns() const {
  return std::accumulate(lost_ns.begin(), lost_ns.end(), end_ns - start_ns, std::minus{});
}

std::vector<RunStretch> run_timeline(const RunRecord& record, const RunOutcome& outcome) {
  std::vector<RunStretch> out;
  RunStretch open;
  const auto close = [&](std::int64_t end) {
    if (end == open.start_ns) return;
    open.end_ns = end;
    out.push_back(open);
    open = {.start_ns = end, .end_ns = end};
  };
  std::int64_t interruptions = 0;
  for (const LostStretch& lost : record.lost) {
    close(lost.at_ns);
    if (std::exchange(interruptions, lost.interruptions) != lost.interruptions) {
      if (!out.empty()) out.back().interrupted = true;
      undo(out, lost.ns);
    } else {
      open.lost_ns[static_cast<std::size_t>(lost.category)] += lost.ns;
    }
  }
  close(outcome.wall_ns);
  return out;
}

}  // namespace orrery
