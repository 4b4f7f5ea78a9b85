// Finds the rank of a run to which each host execution trace belongs: the one that recorded its
// process, if there is exactly one; otherwise the rank in the file's name. A single trace belongs
// to a single rank. Errors: two traces of one rank, a trace of an absent rank.
#pragma once

#include <vector>

#include "outcome/result.h"
#include "trace/pytorch_et/host_trace.h"
#include "trace/recorded_run.h"

namespace orrery {

inline constexpr std::size_t kNoHost = static_cast<std::size_t>(-1);

// The index into `hosts` for each rank of the run; kNoHost if it has none.
Result<std::vector<std::size_t>> host_pairs(const RecordedRun& run,
                                            const std::vector<HostTrace>& hosts);

}  // namespace orrery
