// The report of `orrery trace analyze --html`: one self-contained page with charts.
#pragma once

#include <string>

#include "analyze/run_analysis.h"
#include "report/traces/analysis_text.h"
#include "trace/recorded_run.h"

namespace orrery {

// `analysis` is of `run`; `view.rows` limits every table.
std::string analysis_html(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view);

}  // namespace orrery
