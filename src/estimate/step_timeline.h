// The step of an estimate in time: spans for pictures and for trace viewers.
#pragma once

#include <vector>

#include "estimate/estimate.h"
#include "lower/step_graph.h"
#include "timeline/pipeline_span.h"
#include "timeline/timeline_span.h"
#include "trace/graph_file/graph_file.h"

namespace orrery {

// Every pass, transfer and optimizer step of every pipeline device, in order of device and start.
// Errors: as estimate.
Result<std::vector<PipelineSpan>> pipeline_spans(const Scenario& scenario, const Catalog& catalog);

// Every operation (expanded) or block (folded) on every stream, one rank a pipeline device. Empty
// operations (barriers) are left out; sends carry an arrow to the pass that waits for them. Errors:
// as estimate and step_graph.
Result<std::vector<TimelineSpan>> timeline_spans(const Scenario& scenario, Folding folding,
                                                 const Catalog& catalog);

// The expanded graph itself, one rank a pipeline device: simulating it gives the step again.
// Errors: as timeline_spans.
Result<GraphFile> step_graph_file(const Scenario& scenario, const Catalog& catalog);

}  // namespace orrery
