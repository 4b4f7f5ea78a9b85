// Which host execution trace belongs to which rank of a run.
//
// By the process that the execution trace names, if it was recorded on exactly one rank; else by
// the rank in the file's name; and one of each belong together. Refused: two of one rank, and one
// of a rank that is not there.
#pragma once

#include <vector>

#include "outcome/result.h"
#include "trace/pytorch_et/host_trace.h"
#include "trace/recorded_run.h"

namespace orrery {

inline constexpr std::size_t kNoHost = static_cast<std::size_t>(-1);

// Of each rank of the run, the index into `hosts`; kNoHost if it has none.
Result<std::vector<std::size_t>> host_pairs(const RecordedRun& run,
                                            const std::vector<HostTrace>& hosts);

}  // namespace orrery
