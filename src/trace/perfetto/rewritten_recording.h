// Recorded files of the PyTorch profiler as one file for viewers, with all that they hold.
//
// The columns of a recording (recorded_trace.h) keep what Orrery reads. So that nothing else is
// lost, and need not be held in memory, the files are read a second time, as text and piece by
// piece: events and members of the header go from file to file byte for byte. Changed are
//
//   times      where the clock of a rank was corrected, or counts from another moment than that of
//              the first rank's file
//   ranks      several share one file: processes, identifiers of arrows and names of processes
//              (kineto/rank_process.h); the header of rank 3 is the member "orreryHeader 3"
//   words      that are no JSON, such as nan, become texts
//
// added are
//
//   arguments  that a host execution trace knows of an event and the profiler does not
//   header     the rank, where only the name of the file says it; process groups, where only the
//              execution trace does
//   launches   arrows from calls to their work, if the file has no arrows at all
//   names      of processes that have none, if several ranks share the file
//
// and left out are the events that were not wanted: python functions where those are left out, and
// with Incomplete::use_what_is_whole those with impossible times, copies of others, beginnings and
// ends that lack the other, and what is cut.
//
// Reading the file back (kineto/kineto.h) gives the columns of `run`. Refused is what is no JSON in
// values that the reader does not need, and a file that has changed since it was read. Linear in
// the files; memory: two blocks, and where execution traces are linked four bytes an event.
#pragma once

#include <functional>
#include <string>

#include "outcome/result.h"
#include "trace/byte_stream.h"
#include "trace/kineto/kineto.h"
#include "trace/recorded_run.h"

namespace orrery {

struct RewriteOptions {
  // As they were when the run was read.
  Incomplete incomplete = Incomplete::refuse;
  PythonFunctions python_functions = PythonFunctions::keep;
  // The bytes of RecordedTrace::file once more.
  std::function<Result<ByteStream>(const std::string&)> open = ByteStream::open;
};

Result<std::string> rewritten_recording(const RecordedRun& run, const RewriteOptions& options = {});
// The same as a file, packed if its name ends in .gz, without the whole text in memory.
Result<void> write_rewritten_recording(const std::string& file, const RecordedRun& run,
                                       const RewriteOptions& options = {});

}  // namespace orrery
