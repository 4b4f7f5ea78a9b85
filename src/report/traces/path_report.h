// The critical path of a step (replay/step_path.h) in the terminal, in JSON and on a page: what it
// was bound by, how it went over threads, streams and ranks, and which names stand on it.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/run_analysis.h"
#include "replay/step_path.h"
#include "report/drawing/text_style.h"

namespace orrery {

// `rows` of each table.
std::string step_path_text(const StepPath& path, std::size_t rows, const TextStyle& style);
std::string step_path_html(const StepPath& path, std::size_t rows);
// The same of HTA's path (analyze/critical_path.h), of one rank alone.
std::string hta_path_text(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows,
                          const TextStyle& style);
std::string hta_path_html(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows);
// Places of the longest stretches, in the order of the path; at most `most`.
std::vector<std::size_t> longest_stretches(const StepPath& path, std::size_t most);

}  // namespace orrery
