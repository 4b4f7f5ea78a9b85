// The longer tables of `orrery trace analyze --more`, for the terminal: kernels over all ranks,
// work alone and together, sections and modules, sequences of kernels, gaps of streams, launches
// that stand out.
#pragma once

#include <string>

#include "report/traces/analysis_text.h"

namespace orrery {

std::string analysis_tables_text(const RecordedRun& run, const RunAnalysis& analysis,
                                 const AnalysisView& view, const TextStyle& style);

// "gemm, relu and 3 more" of a sequence.
std::string sequence_text(const RecordedTrace& trace, const KernelSequence& sequence);

}  // namespace orrery
