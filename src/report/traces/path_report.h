// The critical path of a step (replay/step_path.h) in the terminal, in JSON and on a page: what it
// was bound by, how it went over threads, streams and ranks, and which names stand on it.
#pragma once

#include <cstdint>
#include <string>

#include "document/value.h"
#include "replay/step_path.h"
#include "report/drawing/text_style.h"

namespace orrery {

// `rows` of each table.
std::string step_path_text(const StepPath& path, std::size_t rows, const TextStyle& style);
std::string step_path_html(const StepPath& path, std::size_t rows);
// Places of the longest stretches, in the order of the path; at most `most`.
std::vector<std::size_t> longest_stretches(const StepPath& path, std::size_t most);

}  // namespace orrery
