// The sections of the page of `orrery trace analyze --html` that are about one rank: over time,
// operators and their roofline, kernels, sections, sequences, streams, launches, critical path.
#pragma once

#include <string>

#include "report/traces/analysis_text.h"

namespace orrery {

std::string rank_sections_html(const RecordedTrace& trace, const RankAnalysis& rank,
                               const AnalysisView& view);

}  // namespace orrery
