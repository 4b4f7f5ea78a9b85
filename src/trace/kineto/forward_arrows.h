// Arrows of a Kineto file from forward to backward operators ("fwdbwd"), which it gives as two ends
// of one identifier, each at the start of an operator of its row.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct ArrowEnd {
  std::int64_t id = 0;
  std::int64_t time_ns = 0;
  std::uint32_t lane = 0;
  bool is_start = false;
};

// Fills forward_to_backward of a trace whose events are sorted. Of several operators that start
// where an arrow does, it is of the outermost that has a sequence number. O(k log n) for k ends.
void join_arrows(RecordedTrace& trace, std::vector<ArrowEnd> ends);

}  // namespace orrery
