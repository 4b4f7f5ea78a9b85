// Arrows of a Kineto file from forward to backward operators ("fwdbwd"). The file has two events
// with one identifier for each arrow, one at the start of each of the two operators.
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

// Fills forward_to_backward of a trace whose events are sorted. If several operators start at the
// end of an arrow, it belongs to the outermost one with a sequence number. O(k log n) for k ends.
void join_arrows(RecordedTrace& trace, std::vector<ArrowEnd> ends);

}  // namespace orrery
