// What ran on the device of one rank, and when: kernels that compute, kernels that communicate,
// copies and fills, each as the union over all streams.
//
// What is work, and of which kind, says trace/work_kind.h. O(events).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "timeline/intervals.h"
#include "trace/recorded_trace.h"
#include "trace/work_kind.h"

namespace orrery {

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
