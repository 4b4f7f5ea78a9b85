// Memory of devices over time, where it was recorded (profile_memory).
//
// The allocator writes what tensors hold and what it reserves after every change; between two
// changes both stay. Long series are thinned to kMostMemoryPoints by keeping the largest of each
// group, so that no peak is lost. It is not known which tensors hold the memory. O(changes).
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/intervals.h"
#include "trace/recorded_trace.h"

namespace orrery {

inline constexpr std::size_t kMostMemoryPoints = 1000;

struct MemoryPoint {
  std::int64_t time_ns = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
};

struct MemoryTimeline {
  std::int32_t device = 0;  // ordinal; -1: the host
  std::int64_t changes = 0;
  std::int64_t allocations = 0;
  std::int64_t first_bytes = 0;  // allocated at the first and at the last change
  std::int64_t last_bytes = 0;
  MemoryPoint peak;  // of what is allocated; the first such moment
  std::int64_t peak_reserved_bytes = 0;
  std::vector<MemoryPoint> points;
};

// By device; changes that do not say what is allocated are left out.
std::vector<MemoryTimeline> memory_timelines(const RecordedTrace& trace);

}  // namespace orrery
