// The distribution of a step's time as a document of `orrery forecast --json` and for a terminal.
#pragma once

#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "forecast/step_distribution.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/subject.h"

namespace orrery {

Value step_distribution_json(const StepDistribution& distribution, const Subject& subject);
const Description& step_distribution_document();

// The quantiles, what makes the tail, where a slow node hurts least, spare replicas, assumptions.
std::string step_distribution_text(const StepDistribution& distribution, const Subject& subject,
                                   const TextStyle& style);

// What the page has in common with the text.
Table quantile_table(const StepDistribution& distribution);
Table tail_table(const StepDistribution& distribution);
Table slow_table(const StepDistribution& distribution);
Table replica_table(const StepDistribution& distribution);
std::string step_sentence(const StepDistribution& distribution);
std::string exceeds_sentence(const StepDistribution& distribution);  // empty if it was not asked
std::vector<std::string> sample_sentences(const StepDistribution& distribution);

}  // namespace orrery
