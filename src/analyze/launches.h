// The call that launched each piece of device work, and the operator that made the call.
//
// A launch call (cudaLaunchKernel, hipMemcpyAsync, ...) and its work carry the same correlation;
// the operator is the innermost one that encloses the call on its thread. Ids of operators that
// newer recordings put on kernels are not needed, so all eras are read alike. A call that appears
// twice under one correlation counts once, the earlier. Work launched before the recording began
// has no call. O(events), and sorting the calls.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct Launches {
  // Of a host event: the innermost cpu_operator that encloses it on its thread; kNoEvent.
  std::vector<std::uint32_t> enclosing_operator;
  // Of device work and synchronizations: the runtime call of the same correlation; kNoEvent.
  std::vector<std::uint32_t> call;

  // The operator that launched a piece of device work; kNoEvent.
  [[nodiscard]] std::uint32_t operator_of(std::size_t work) const {
    return call[work] == kNoEvent ? kNoEvent : enclosing_operator[call[work]];
  }
};

Launches launches(const RecordedTrace& trace);

}  // namespace orrery
