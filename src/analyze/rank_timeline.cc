#include "analyze/rank_timeline.h"

#include <algorithm>

namespace orrery {
namespace {

std::vector<double> shares(const Intervals& set, const RankTimeline& timeline) {
  const std::int64_t span = timeline.window.end - timeline.window.start;
  const std::int64_t bins = (span + timeline.bin_ns - 1) / timeline.bin_ns;
  std::vector<std::int64_t> ns(static_cast<std::size_t>(bins), 0);
  for (const Interval& i : clipped(set, timeline.window)) {
    for (std::int64_t from = i.start; from < i.end;) {
      const std::int64_t bin = (from - timeline.window.start) / timeline.bin_ns;
      const std::int64_t to = std::min(i.end, timeline.window.start + (bin + 1) * timeline.bin_ns);
      ns[static_cast<std::size_t>(bin)] += to - from;
      from = to;
    }
  }
  std::vector<double> out;
  out.reserve(ns.size());
  for (const std::int64_t n : ns) {
    out.push_back(static_cast<double>(n) / static_cast<double>(timeline.bin_ns));
  }
  return out;
}

}  // namespace

RankTimeline rank_timeline(const DeviceWork& work, Interval window) {
  RankTimeline timeline = {.window = window};
  const std::int64_t span = window.end - window.start;
  if (span <= 0) return timeline;
  timeline.bin_ns = (span + kTimelineBins - 1) / kTimelineBins;
  timeline.compute = shares(work.compute, timeline);
  timeline.exposed_communication = shares(difference(work.communication, work.compute), timeline);
  timeline.exposed_copy =
      shares(difference(union_of(work.copies, work.fills), work.kernels()), timeline);
  return timeline;
}

}  // namespace orrery
