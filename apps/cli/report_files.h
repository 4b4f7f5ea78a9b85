// The files a report writes beside what it prints.
#pragma once

#include "command.h"
#include "estimate/estimate.h"
#include "report/plans/subject.h"
#include "search/search.h"

namespace orrery::cli {

Subject subject_of(const Scenario& scenario);

// Writes the HTML report and the timeline that the question asks for; gives a line about each.
// `found` is the search the estimate came from (`elapsed` long), or nullptr.
Result<std::vector<std::string>> write_report_files(const Question& question,
                                                    const Scenario& scenario,
                                                    const Estimate& estimate,
                                                    const SearchResult* found, Seconds elapsed,
                                                    const Catalog& catalog);

}  // namespace orrery::cli
