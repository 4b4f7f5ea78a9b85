// Recorded runs as Chrome Trace Event JSON, in the words of the PyTorch profiler, so that both the
// Perfetto UI (ui.perfetto.dev) and every reader of Kineto files open them.
//
// One rank is written as it was recorded: reading it back (kineto/kineto.h) gives the same columns.
// Several ranks share one file and one clock; each process of rank r gets the number
// (r + 1) x 10^9 + its own and a name with the rank, and the arrows from launches to devices keep
// to their rank.
//
// Written besides the events: launches to devices as arrows ("ac2g"), forward to backward operators
// ("fwdbwd"), allocations, names of rows, and of one rank the header. Times are microseconds with
// three decimals since the header's baseTimeNanoseconds. Linear; texts are escaped, and what is no
// UTF-8 becomes '?'.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "outcome/result.h"
#include "trace/recorded_trace.h"

namespace orrery {

std::string recorded_json(std::span<const RecordedTrace> ranks);
// The same as a file, packed if its name ends in .gz, without the whole text in memory.
Result<std::monostate> write_recorded_json(const std::string& file,
                                           std::span<const RecordedTrace> ranks);

}  // namespace orrery
