// Graphs of runs as files of our own (trace/graph_file/graph_file.h): with the names of what ran,
// and the steps that were recorded.
#pragma once

#include <span>

#include "replay/chakra_graph.h"
#include "replay/run_graph.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_trace.h"

namespace orrery {

// A trace without a rank counts as the rank of its place. Dependencies that closed a cycle are
// left out, as in a replay.
GraphFile graph_file(std::span<const RecordedTrace> traces, const RunGraph& run);
GraphFile graph_file(const ChakraGraph& graph);

}  // namespace orrery
