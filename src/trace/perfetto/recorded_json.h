// Recorded runs as Chrome Trace Event JSON, in the words of the PyTorch profiler, so that both the
// Perfetto UI (ui.perfetto.dev) and every reader of Kineto files open them.
//
// Of columns: what a simulation or a what-if made of a recording, and recordings that came from a
// pipe. Reading it back (kineto/kineto.h) gives the same columns. Files of a recording are written
// anew with all that they hold by rewritten_recording.h.
//
// Several ranks share one file and one clock; processes and arrows keep to their rank
// (kineto/rank_process.h).
//
// Written besides the events: launches to devices as arrows ("ac2g"), forward to backward operators
// ("fwdbwd"), allocations, names of rows, and the header. Times are microseconds with three
// decimals since the header's baseTimeNanoseconds. Linear; texts are escaped, and what is no UTF-8
// becomes '?'.
#pragma once

#include <span>
#include <string>

#include "outcome/result.h"
#include "trace/recorded_trace.h"

namespace orrery {

std::string recorded_json(std::span<const RecordedTrace> ranks);
// The same as a file, packed if its name ends in .gz, without the whole text in memory.
Result<void> write_recorded_json(const std::string& file, std::span<const RecordedTrace> ranks);

}  // namespace orrery
