// Functions that users write in Python as the judge of a search: `objective(step)` says what a plan
// is worth, the smaller the better, and `constraint(step)` whether it is allowed. A file defines
// one of them or both; without an objective the step time is minimised. `step` has the keys of
// `orrery estimate --json`.
#pragma once

#include <string>

#include "python/user_functions.h"
#include "report/plans/subject.h"
#include "search/search.h"

namespace orrery {

// `count` interpreters. Errors: the file cannot be read or loaded, or defines neither.
Result<Judge> python_judge(const std::string& file, int count, Interpreters where,
                           const PythonLimits& limits, const Subject& subject);

}  // namespace orrery
