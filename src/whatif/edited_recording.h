// An edited run as if it had been recorded: what every rank's threads and streams did, and when.
//
// Events are the device's work, the calls and operators of the host that took time, each once and
// nested as they were, and the steps, with the times of the replay; launches keep their links to
// their work, communications their arguments. Written as a file (trace/perfetto/recorded_json.h) it
// opens in the Perfetto UI, and everything that reads recordings reads it, and calls it simulated.
// Stages that an edit made of a rank are ranks of their own: rank x stages + stage. Left out: marks
// other than steps, shapes, allocations. Linear, up to a sort.
#pragma once

#include <span>
#include <vector>

#include "replay/run_graph.h"
#include "trace/recorded_trace.h"

namespace orrery {

// `graph` may be unedited; `times` are of it.
std::vector<RecordedTrace> edited_recording(std::span<const RecordedTrace> traces,
                                            const RunGraph& graph, const ReplayedRun& times);

}  // namespace orrery
