// The files a report writes beside what it prints.
#pragma once

#include <span>

#include "command.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "forecast/run_costs.h"
#include "report/plans/subject.h"
#include "search/search.h"

namespace orrery::cli {

// Writes the HTML report and the timeline that the question asks for; gives a line about each. The
// timeline shows `drawn`, folded or expanded; `estimate` is that of `step`. `found` is the search
// that found the step (`elapsed` long), or nullptr; `runs` are those of its plans or of the step.
Result<std::vector<std::string>> write_report_files(const Question& question,
                                                    const PredictedStep& step,
                                                    const SimulatedStep& drawn,
                                                    const Estimate& estimate,
                                                    const SearchResult* found, Seconds elapsed,
                                                    std::span<const HealthyRun> runs);

}  // namespace orrery::cli
