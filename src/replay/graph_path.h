// The critical path of every rank in a simulated graph: of Chakra traces, or of a graph's file.
//
// That of timeline/critical_path.h on the graph as which these are simulated
// (replay/chakra_graph.h, trace/graph_file/graph_file.h): followed back from the end of a rank's
// step (where a file names steps, the first), or of its last operation to its first, transfers
// between two ranks apart. An operation of several ranks belongs to the rank in which the path
// continues.
#pragma once

#include <vector>

#include "replay/chakra_graph.h"
#include "timeline/critical_path.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_run.h"

namespace orrery {

// Of the ranks of `seen`, the same files as a recording (replay/simulated_recording.h), whose
// moments are the paths' windows.
std::vector<StepPath> step_paths(const GraphFile& file, const RecordedRun& seen);
std::vector<StepPath> step_paths(const ChakraRun& run, const ChakraGraph& graph,
                                 const RecordedRun& seen);

}  // namespace orrery
