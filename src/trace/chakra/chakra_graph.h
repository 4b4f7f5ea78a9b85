// A Chakra trace of one rank as an execution graph, as ASTRA-sim's feeder runs it.
//
// Streams: the host, computation on the device, communication on the device, each one operation at
// a time; receives take no stream. Nodes stand in the order of their dependencies, the lowest
// identifier first among those that could go next, and take what was recorded; 1 ns if nothing was,
// as in ASTRA-sim. Metadata and invalid nodes take no time.
//
// Not modelled: communication that waits for other ranks; sizes are kept in the payload table.
// Source: astra-sim, Workload.cc (hardware resources, durations). Errors: as chakra_order.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "outcome/result.h"
#include "timeline/timeline_span.h"
#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_trace.h"

namespace orrery {

struct ChakraGraph {
  Graph graph;                      // payload: index into `node`
  std::vector<std::uint32_t> node;  // of the trace
};

struct ChakraGraphOptions {
  AbsentDependencies absent = AbsentDependencies::report;
  ControlDependencies control = ControlDependencies::heed;
};

// `rank` becomes the rank class of all streams; `name` stands in errors.
Result<ChakraGraph> chakra_graph(const ChakraTrace& trace, std::uint32_t rank,
                                 const std::string& name, const ChakraGraphOptions& options = {});

// What simulating it gives, for viewers: operations that take time, by stream and start.
std::vector<TimelineSpan> chakra_spans(const ChakraGraph& graph);

}  // namespace orrery
