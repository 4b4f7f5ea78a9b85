// Recorded files of the PyTorch profiler as one file for viewers, with all their contents.
//
// The columns of a recording (recorded_trace.h) contain only what Orrery uses. To keep everything
// else without storing it in memory, the files are read a second time, as text and piece by piece:
// events and members of the header are copied byte for byte. These are changed:
//
//   times      if the clock of a rank was corrected, or counts from another moment than that of the
//              first rank's file
//   ranks      if several share one file: processes, identifiers of arrows and names of processes
//              (kineto/rank_process.h); the header of rank 3 is the member "orreryHeader 3"
//   words      that are not JSON, such as nan, become texts
//
// These are added:
//
//   arguments  of an event that a host execution trace has and the profiler's trace does not
//   header     the rank, if only the name of the file states it; process groups, if only the
//              execution trace has them
//   launches   arrows from calls to what they launched, if the file has no arrows at all
//   names      of processes that have none, if several ranks share the file
//
// These are omitted: Python functions if the options say so, and with Incomplete::use_what_is_whole
// events with impossible times, repeated events, beginnings without an end, ends without a
// beginning, and what is cut.
//
// Reading the file back (kineto/kineto.h) gives the columns of `run`. Errors: a value that the
// reader does not need is not JSON, or a file has changed since it was read. Linear in the files;
// memory: two blocks, and four bytes per event if execution traces are linked.
#pragma once

#include <functional>
#include <string>

#include "outcome/result.h"
#include "trace/byte_stream.h"
#include "trace/kineto/kineto.h"
#include "trace/recorded_run.h"

namespace orrery {

struct RewriteOptions {
  // The options with which the run was read.
  Incomplete incomplete = Incomplete::refuse;
  PythonFunctions python_functions = PythonFunctions::keep;
  // Opens RecordedTrace::file again.
  std::function<Result<ByteStream>(const std::string&)> open = ByteStream::open;
};

Result<std::string> rewritten_recording(const RecordedRun& run, const RewriteOptions& options = {});
// The same as a file, compressed if its name ends in .gz, without the whole text in memory.
Result<void> write_rewritten_recording(const std::string& file, const RecordedRun& run,
                                       const RewriteOptions& options = {});

}  // namespace orrery
