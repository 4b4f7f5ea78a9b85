// The critical path of a step (timeline/critical_path.h) in the terminal, in JSON and on a page:
// what it was bound by, how it went over threads, streams and ranks, and which names stand on it.
#pragma once

#include <string>

#include "document/value.h"
#include "report/drawing/text_style.h"
#include "timeline/critical_path.h"

namespace orrery {

// `rows` of each table.
std::string step_path_text(const StepPath& path, std::size_t rows, const TextStyle& style);
std::string step_path_html(const StepPath& path, std::size_t rows);
// The same of the path of one rank's events (analyze/critical_path.h), behind a remark.
std::string event_path_text(const StepPath& path, const std::string& remark, std::size_t rows,
                            const TextStyle& style);
std::string event_path_html(const StepPath& path, std::size_t rows);
// Places of the longest stretches, in the order of the path; at most `most`.
std::vector<std::size_t> longest_stretches(const StepPath& path, std::size_t most);

}  // namespace orrery
