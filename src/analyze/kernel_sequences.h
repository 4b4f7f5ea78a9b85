// Sequences of kernels that operators launch again and again, and that may be worth fusing or
// capturing in a graph.
//
// The sequence of one call of an outermost operator is what it and the operators inside it
// launched, in the order of the launches: kernels, copies and fills by name. Calls with the same
// name and the same sequence are one row. A single piece of work is not a sequence.
//
// Source: facebookresearch/HolisticTraceAnalysis f4d0062 (frequent CUDA kernel sequences), which
// does this for one operator at a time. O(events log events).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/launch_links.h"

namespace orrery {

struct KernelSequence {
  std::uint32_t operator_name = 0;     // into the texts of the trace
  std::vector<std::uint32_t> kernels;  // names, at least two
  std::int64_t count = 0;
  std::int64_t device_ns = 0;  // of all its work
  std::int64_t host_ns = 0;    // of the calls of the operator

  [[nodiscard]] std::int64_t launches() const {
    return count * static_cast<std::int64_t>(kernels.size());
  }
};

// Most launches first, then most device time, then the operator's name and the kernels'.
std::vector<KernelSequence> kernel_sequences(const RecordedTrace& trace, const LaunchLinks& links);

}  // namespace orrery
