// The files a report writes beside what it prints.
#pragma once

#include "command.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "report/plans/subject.h"
#include "search/search.h"

namespace orrery::cli {

Subject subject_of(const Scenario& scenario);

// Writes the HTML report and the timeline that the question asks for; gives a line about each. The
// timeline shows `drawn`, folded or expanded; `estimate` is that of `step`. `found` is the search
// that found the step (`elapsed` long), or nullptr.
Result<std::vector<std::string>> write_report_files(const Question& question,
                                                    const PredictedStep& step,
                                                    const SimulatedStep& drawn,
                                                    const Estimate& estimate,
                                                    const SearchResult* found, Seconds elapsed);

}  // namespace orrery::cli
