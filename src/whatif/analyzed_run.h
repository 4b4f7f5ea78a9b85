// All that is known of a recorded run by looking at it and by replaying it: its analysis, the
// critical path of every step, and what a faster network would gain where waiting for it was found.
#pragma once

#include <vector>

#include "analyze/run_analysis.h"
#include "replay/seen_run.h"
#include "timeline/critical_path.h"

namespace orrery {

struct AnalyzedRun {
  RunAnalysis analysis;
  // Of every rank, by the graph of the run; none with the preset hta, whose own construction the
  // analysis has, and where nothing can be replayed.
  std::vector<StepPath> paths;
};

// `incomplete` is how the run was read. Errors: those of analyze() and of the graph; an annotation
// whose path is asked for, of what is no profiler's trace.
Result<AnalyzedRun> analyzed_run(const SeenRun& seen, AnalysisOptions options,
                                 Incomplete incomplete, const Catalog& catalog);

}  // namespace orrery
