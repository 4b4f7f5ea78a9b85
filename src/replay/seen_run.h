// Files that can be seen as a recording, whatever their format, with what they were made of.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "replay/chakra_graph.h"
#include "trace/chakra/chakra_run.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_run.h"
#include "trace/trace_inputs.h"

namespace orrery {

// With what it was made of where that has a graph of its own: Chakra traces, graph files.
struct SeenRun {
  RecordedRun run;
  std::variant<std::monostate, ChakraRun, GraphFile> made_of;
};

// The run of sources that are no recordings. `options.clocks` and `incomplete` are used of `how`.
// Errors: of their readers; as simulated_recording.
Result<SeenRun> seen_as_recorded(const TraceSources& sources, const RunOptions& how);

// Recordings as they are, everything else as above. Errors: the same; a recording without any event
// that has a duration.
Result<SeenRun> read_seen_run(const std::vector<std::string>& files, const RunOptions& how);

// Refuses a run without any event that has a start and a duration.
Result<RecordedRun> with_events(RecordedRun run);

// How .et traces of such a run become a graph.
ChakraGraphOptions chakra_options(Incomplete incomplete);

}  // namespace orrery
