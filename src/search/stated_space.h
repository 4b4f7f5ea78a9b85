// The space of a search that a specification leaves open.
#pragma once

#include <string>
#include <vector>

#include "estimate/spec.h"
#include "search/search.h"

namespace orrery {

// Fields that are stated are kept: their axis has one value. `schedules` are names of schedules,
// "all" for all synchronous ones; empty: the default. Errors: unknown schedule.
Result<SearchSpace> stated_space(const Spec& spec, const std::vector<std::string>& schedules);

// Adds axes that somebody asked for (search/further_axes.h). Errors: those of an axis, one that is
// stated by the plan or given twice, more than 10,000 combinations of values.
Result<void> add_axes(SearchSpace& space, const std::vector<std::string>& axes);

}  // namespace orrery
