// Graphs of runs as graph files (trace/graph_file/graph_file.h), with the names of what ran and the
// recorded steps.
#pragma once

#include <span>

#include "replay/chakra_graph.h"
#include "replay/run_graph.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_trace.h"

namespace orrery {

// A trace without a rank gets its position as its rank. Dependencies that would close a cycle are
// left out, as in a replay.
GraphFile graph_file(std::span<const RecordedTrace> traces, const RunGraph& run);
GraphFile graph_file(const ChakraGraph& graph);

}  // namespace orrery
