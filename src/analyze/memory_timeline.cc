#include "analyze/memory_timeline.h"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& all) {
  if (all.size() <= kMostMemoryPoints) return all;
  std::vector<MemoryPoint> few;
  few.reserve(kMostMemoryPoints);
  for (std::size_t i = 0; i < kMostMemoryPoints; ++i) {
    const std::size_t from = i * all.size() / kMostMemoryPoints;
    const std::size_t to = (i + 1) * all.size() / kMostMemoryPoints;
    few.push_back(*std::max_element(all.begin() + static_cast<std::ptrdiff_t>(from),
                                    all.begin() + static_cast<std::ptrdiff_t>(to),
                                    [](const MemoryPoint& a, const MemoryPoint& b) {
                                      return a.allocated_bytes < b.allocated_bytes;
                                    }));
  }
  return few;
}

}  // namespace

std::vector<MemoryTimeline> memory_timelines(const RecordedTrace& trace) {
  std::map<std::int32_t, MemoryTimeline> by_device;
  for (const MemoryEvent& event : trace.memory) {
    if (event.allocated_bytes == kNotRecorded) continue;
    MemoryTimeline& timeline = by_device[event.device];
    const MemoryPoint point = {
        .time_ns = event.time_ns,
        .allocated_bytes = event.allocated_bytes,
        .reserved_bytes = event.reserved_bytes == kNotRecorded ? 0 : event.reserved_bytes};
    if (timeline.changes == 0) timeline.first_bytes = point.allocated_bytes;
    if (timeline.changes == 0 || point.allocated_bytes > timeline.peak.allocated_bytes) {
      timeline.peak = point;
    }
    timeline.device = event.device;
    ++timeline.changes;
    if (event.bytes > 0) ++timeline.allocations;
    timeline.last_bytes = point.allocated_bytes;
    timeline.peak_reserved_bytes = std::max(timeline.peak_reserved_bytes, point.reserved_bytes);
    timeline.points.push_back(point);
  }
  std::vector<MemoryTimeline> timelines;
  for (auto& [device, timeline] : by_device) {
    timeline.points = thinned(timeline.points);
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

}  // namespace orrery
