// The graph of a predicted step as a run that what-ifs can edit.
//
// Every operation becomes work of its rank: kernels and copies as they are, communications with
// their arrival and transfer, and one rendezvous for a communication of several ranks. The events
// of a simulated recording (replay/simulated_recording.h) describe them. O(n log n).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "replay/run_graph.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_run.h"

namespace orrery {

// What events stand for: nodes of a graph, whose operations can be priced.
struct PredictedOperations {
  Graph graph;
  std::vector<std::vector<std::int64_t>> nodes;  // by trace, then event; kNotRecorded: none
};

// The operations of `graph` are described by the events of `seen`. The only step goes from zero to
// the end of the last operation, on every rank; times are whole nanoseconds. A latency takes time
// but cannot be selected by an edit.
struct GraphRun {
  RecordedRun seen;
  RunGraph graph;
  std::optional<PredictedOperations> operations = {};  // none: of a recording
};
// `name` stands for the file in errors. Errors: times beyond those of a recording.
Result<GraphRun> graph_run(GraphFile file, const std::string& name);

}  // namespace orrery
