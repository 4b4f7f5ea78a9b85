// The critical path of a step of a recorded run: the chain of operations that determined when it
// ended, over threads, streams and ranks, and why each began when it did
// (timeline/critical_path.h).
//
// The run's graph (replay/graph_from_run.h) is simulated and followed back from the step's end, so
// that the path contains everything a replay models: order of threads and streams, launches, waits
// between streams and threads, synchronizing calls, communications across ranks. Where a rank
// waited for another in a communication, the path goes on in that other rank.
//
//   length = end of the step's last operation - end of the last one before the step
//
// The length is the replayed step's, which stands beside the recorded one. Where no steps are
// marked, the whole recording of the rank counts, up to its last operation on host or device.
// Memory: that of the graph while it is made; O(nodes + edges + chain).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "outcome/result.h"
#include "replay/graph_from_run.h"
#include "timeline/critical_path.h"
#include "trace/recorded_trace.h"

namespace orrery {

// Of every rank, in the order of `traces`; a rank without operators, calls and device work has a
// path of no length. `events` has the annotation or operator of each trace whose path is asked for;
// empty: the first marked step. Refuses what graph_from_run refuses: runs in which no rank has any.
Result<std::vector<StepPath>> step_paths(std::span<const RecordedTrace> traces,
                                         std::span<const std::uint32_t> events = {});
// The same through the run's graph, whose steps are `events`.
std::vector<StepPath> step_paths(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                 std::span<const std::uint32_t> events = {});

}  // namespace orrery
