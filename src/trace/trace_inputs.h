// The files that were given, with the traces in folders put in the folders' place, and what each
// is.
#pragma once

#include <string>
#include <vector>

#include "outcome/result.h"
#include "trace/known_formats.h"

namespace orrery {

struct TraceInput {
  std::string file;  // "-": standard input
  const TraceFormat* format = &kUnknownFormat;
  bool of_folder = false;  // found in a folder, not given by name
};

// In the order given; those of a folder (*.json, *.et, *.txt, and gzip of them) by name. A file
// that cannot be read is unknown: its reader says why. Communicator files are passed over, unless
// one is all that was given. Errors: a folder that cannot be listed.
Result<std::vector<TraceInput>> trace_inputs(const std::vector<std::string>& given);

// That they hold no traces, and which folders one level down do.
Error no_traces(const std::vector<std::string>& given);

// The same as one run: the files of its ranks, which are of one kind.
struct TraceSources {
  // One with a reader. What is unknown counts as the profiler's, whose reader says what is wrong
  // with it.
  const TraceFormat* format = &kKineto;
  std::vector<std::string> files;  // at least one; just one if it holds all ranks
  std::vector<std::string> hosts;  // execution traces of the ranks, beside the profiler's
};

// A folder that holds a recording beside what was made of it, or notes, stands for the recording.
// Errors: as trace_inputs; files of different kinds; execution traces alone; nothing to read.
Result<TraceSources> trace_sources(const std::vector<std::string>& given);

}  // namespace orrery
