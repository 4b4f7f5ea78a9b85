// What recorded files hold, for the terminal and as JSON (docs/schema/trace-info-1.json).
#pragma once

#include <string>
#include <vector>

#include "document/value.h"
#include "report/drawing/text_style.h"
#include "trace/recorded_run.h"
#include "trace/trace_contents.h"

namespace orrery {

std::string trace_info_text(const RecordedRun& run, const TextStyle& style);
// Of files of other kinds than the profiler's traces.
std::string trace_contents_text(const std::vector<TraceContents>& files, const TextStyle& style);
// `files`: of other kinds, beside the run.
Value trace_info_json(const RecordedRun& run, const std::vector<TraceContents>& files = {});

}  // namespace orrery
