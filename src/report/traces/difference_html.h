// The page of `orrery trace diff --html`: two runs, or a run and its prediction, side by side.
#pragma once

#include <string>

#include "compare/difference.h"
#include "report/traces/difference_report.h"

namespace orrery {

std::string difference_html(const Difference& difference, const DifferenceSubject& subject);

}  // namespace orrery
