// The JSON document of `orrery trace analyze --json`; described in docs/trace-analyze.md.
#pragma once

#include <span>

#include "analyze/run_analysis.h"
#include "document/description.h"
#include "replay/step_path.h"
#include "trace/recorded_run.h"

namespace orrery {

// `analysis` is of `run`. A document of kind "trace_analysis". Times are seconds from the first
// event of the run; durations are seconds. `paths` as of AnalysisView.
Value analysis_json(const RecordedRun& run, const RunAnalysis& analysis,
                    std::span<const StepPath> paths = {});
const Description& analysis_document();

}  // namespace orrery
