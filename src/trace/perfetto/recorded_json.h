// Recorded runs as Chrome Trace Event JSON with the keys of the PyTorch profiler, so that both the
// Perfetto UI (ui.perfetto.dev) and every reader of Kineto files can open them.
//
// The input are columns: the result of a simulation or a what-if, or a recording that was read from
// a pipe. Reading the output back (kineto/kineto.h) gives the same columns. Files of a recording
// are rewritten with all their contents by rewritten_recording.h.
//
// Several ranks share one file and one clock; processes and arrows state their rank
// (kineto/rank_process.h).
//
// The file contains the events, arrows from launches to devices ("ac2g") and from forward to
// backward operators ("fwdbwd"), allocations, names of rows, and the header. Times are microseconds
// with three decimals since the header's baseTimeNanoseconds. Texts are escaped, and bytes that are
// not UTF-8 become '?'. Linear.
#pragma once

#include <span>
#include <string>

#include "outcome/result.h"
#include "trace/recorded_trace.h"

namespace orrery {

std::string recorded_json(std::span<const RecordedTrace> ranks);
// The same as a file, compressed if its name ends in .gz, without the whole text in memory.
Result<void> write_recorded_json(const std::string& file, std::span<const RecordedTrace> ranks);

}  // namespace orrery
