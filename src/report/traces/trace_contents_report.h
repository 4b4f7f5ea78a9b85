// What files of other kinds than the profiler's traces hold, for the terminal and as JSON (the
// "files" of docs/schema/trace-info-1.json).
#pragma once

#include <string>
#include <vector>

#include "document/value.h"
#include "report/drawing/text_style.h"
#include "trace/trace_contents.h"

namespace orrery {

std::string trace_contents_text(const std::vector<TraceContents>& files, const TextStyle& style);
Value trace_contents_json(const std::vector<TraceContents>& files);

}  // namespace orrery
