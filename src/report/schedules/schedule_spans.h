// An executed schedule as the spans that drawings and trace viewers show.
#pragma once

#include <vector>

#include "schedule/measured_schedule.h"
#include "schedule/pipeline_span.h"
#include "timeline/timeline_span.h"

namespace orrery {

// Every operation and transfer, in order of device and start. `chunk` counts along the way of a
// microbatch.
std::vector<PipelineSpan> pipeline_spans(const MeasuredSchedule& schedule);

// The same with their streams; a transfer carries an arrow to the operation that waits for it.
std::vector<TimelineSpan> timeline_spans(const MeasuredSchedule& schedule);

}  // namespace orrery
