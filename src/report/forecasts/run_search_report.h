// The best plans and sizes of a run as a document of `orrery search --objective --json` and for a
// terminal.
#pragma once

#include <string>

#include "document/description.h"
#include "document/value.h"
#include "forecast/run_search.h"
#include "report/drawing/text_style.h"
#include "report/plans/plan_text.h"

namespace orrery {

Value run_search_json(const RunSearchResult& result, const Subject& subject, Seconds elapsed);
const Description& run_search_document();

// The best runs, what the plan of the shortest step would have given, why no plan that was left out
// is better, sizes, assumptions.
std::string run_search_text(const RunSearchResult& result, const Subject& subject, Seconds elapsed,
                            const TextStyle& style);

}  // namespace orrery
