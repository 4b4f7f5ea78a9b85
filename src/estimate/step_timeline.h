// A predicted step in time: spans for pictures and for trace viewers, and its graph as a file.
#pragma once

#include <vector>

#include "estimate/predicted_step.h"
#include "schedule/pipeline_span.h"
#include "timeline/timeline_span.h"
#include "trace/graph_file/graph_file.h"

namespace orrery {

// Every pass, transfer and optimizer step of every pipeline device, in order of device and start.
std::vector<PipelineSpan> pipeline_spans(const PredictedStep& step);

// Every operation (expanded) or block (folded) on every stream, one rank a pipeline device. Empty
// operations (barriers) are left out; sends carry an arrow to the pass that waits for them.
std::vector<TimelineSpan> timeline_spans(const SimulatedStep& step);

// The graph itself, one rank a pipeline device: simulating it gives the step again.
GraphFile step_graph_file(SimulatedStep step);

}  // namespace orrery
