// What ran on the device of one rank, and when: kernels that compute, kernels that communicate,
// copies and fills, each as the union over all streams.
//
// Definitions, as in validation/traces/README.md: a kernel communicates by its name
// (is_communication_kernel); every other kernel computes; copies and fills are neither. Spans that
// a profiler derives, and synchronizations, are not work. O(events).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "outcome/enum_names.h"
#include "timeline/intervals.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class WorkKind : std::uint8_t { none, compute, communication, copy, fill };

// The kind of every event; WorkKind::none if it is not device work.
std::vector<WorkKind> work_kinds(const RecordedTrace& trace);

inline constexpr Interval kAllTime = {std::numeric_limits<std::int64_t>::min() / 4,
                                      std::numeric_limits<std::int64_t>::max() / 4};

struct DeviceWork {
  Intervals compute;
  Intervals communication;
  Intervals copies;
  Intervals fills;

  [[nodiscard]] Intervals kernels() const { return union_of(compute, communication); }
  [[nodiscard]] Intervals all() const { return union_of(kernels(), union_of(copies, fills)); }
};

DeviceWork device_work(const RecordedTrace& trace, const std::vector<WorkKind>& kinds);

DeviceWork clipped(const DeviceWork& work, Interval window);

// From the first start to the last end of device work; empty (0, 0) if there is none.
Interval device_span(const RecordedTrace& trace, const std::vector<WorkKind>& kinds);

}  // namespace orrery
