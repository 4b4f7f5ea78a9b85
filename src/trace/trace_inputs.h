// The files that were given, with the traces in folders put in the folders' place, and what each
// is.
#pragma once

#include <string>
#include <vector>

#include "outcome/result.h"
#include "trace/trace_format.h"

namespace orrery {

struct TraceInput {
  std::string file;  // "-": standard input
  TraceFormat format = TraceFormat::unknown;
  bool of_folder = false;  // found in a folder, not given by name
};

// In the order given; those of a folder (*.json, *.et, *.txt, and gzip of them) by name. A file
// that cannot be read is unknown: its reader says why. Standard input counts as the profiler's.
// Errors: a folder that cannot be listed.
Result<std::vector<TraceInput>> trace_inputs(const std::vector<std::string>& given);

}  // namespace orrery
