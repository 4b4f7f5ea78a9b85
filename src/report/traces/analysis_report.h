// What `orrery trace analyze` prints, its page with charts and its document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "analyze/run_analysis.h"
#include "document/description.h"
#include "replay/step_path.h"
#include "report/drawing/text_style.h"
#include "trace/recorded_run.h"

namespace orrery {

// Tables beside those that always stand in the terminal.
enum class MoreTables : std::uint8_t { none, all };

struct AnalysisView {
  std::size_t rank = 0;   // place in the run of the rank whose tables are shown
  std::size_t rows = 12;  // of each table
  MoreTables more = MoreTables::none;
  // Of every rank, by the replayed graph; empty: the paths of the analysis, if it has any.
  std::span<const StepPath> paths = {};
};

// `analysis` is of `run`.
std::string analysis_text(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view, const TextStyle& style);
// One self-contained page; `view.rows` limits every table.
std::string analysis_html(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view);

// `paths`: as in AnalysisView.
Value analysis_json(const RecordedRun& run, const RunAnalysis& analysis,
                    std::span<const StepPath> paths = {});
const Description& analysis_document();

}  // namespace orrery
