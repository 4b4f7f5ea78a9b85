// Presents Chakra traces and graphs as recordings of a profiler, for everything that reads recorded
// runs.
//
// If all Chakra traces have start times, each node begins at its start time. The duration of a host
// node is its own time; a profiler would record it together with the nodes it called, which its
// control dependencies name. If no caller's duration is shorter than what it called, durations are
// taken to include the callees already. A mark ProfilerStep#N, to which the format gives no time,
// lasts as long as what it called.
//
// Traces of a predicted run say that their start times are simulated, and so does the recording.
//
// Traces without start times, and graphs, are simulated first (replay/chakra_graph.h). The steps
// that a graph file names become marks.
//
//   operator of the host          cpu_operator of its thread
//   kernel, copy                  on its stream; its External id names the operator it hangs off
//   communication                 a kernel; where nothing in its name says so, "nccl:" comes before
//
// Launch calls, synchronizations and shapes are missing; analyses that need them say so.
// O(n log n).
#pragma once

#include "outcome/result.h"
#include "replay/chakra_graph.h"
#include "simulate/simulate.h"
#include "trace/chakra/chakra_run.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_run.h"

namespace orrery {

// A moment of a simulation as recordings count time.
std::int64_t nanoseconds(Picoseconds time);

// Errors: as chakra_graph where traces are simulated; times beyond those of a recording.
// `clocks` are of recorded start times; simulated ones are of one clock.
Result<RecordedRun> simulated_recording(const ChakraRun& run,
                                        const ChakraGraphOptions& options = {},
                                        Clocks clocks = Clocks::align);
// `file` stands for each rank.
Result<RecordedRun> simulated_recording(const GraphFile& graph, const std::string& file);

// The same of a graph simulated before; every event has the node it stands for as its external id,
// until forget_marks.
Result<RecordedRun> marked_recording(const GraphFile& graph, const Timeline& timeline,
                                     const std::string& file);
void forget_marks(RecordedRun& run);

}  // namespace orrery
