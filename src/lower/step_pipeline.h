// What the wiring of a pipeline (schedule/pipeline_wiring.h) asks of a training step: the streams
// of every device, how long transfers between stages take, and what they move.
#pragma once

#include "graph/graph.h"
#include "lower/step_costs.h"
#include "schedule/pipeline_wiring.h"

namespace orrery {

// Adds all streams of `devices` ranks to an empty builder.
PipelineStreams pipeline_streams(GraphBuilder& builder, int devices);

PipelineTimes pipeline_times(const StepCosts& step);
PipelineTraffic pipeline_traffic(const StepCosts& step);

}  // namespace orrery
