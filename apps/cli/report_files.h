// The files a report writes beside what it prints.
#pragma once

#include "command.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "report/plans/html_report.h"

namespace orrery::cli {

// Writes the HTML report and the timeline that the question asks for; gives a line about each. The
// timeline shows `drawn`, folded or expanded; `estimate` is that of `step`.
Result<std::vector<std::string>> write_report_files(const Question& question,
                                                    const PredictedStep& step,
                                                    const SimulatedStep& drawn,
                                                    const Estimate& estimate, const FoundBy& found);

}  // namespace orrery::cli
