// The memory of one pipeline device under a plan, from the schedule's own in-flight microbatches.
#pragma once

#include <string>

#include "cost/memory/memory.h"
#include "lower/step_costs.h"

namespace orrery {

// O(chunks); the report's moment is left empty, for a search asks for a million of them.
MemoryReport stage_memory(const StepCosts& step, int device);

// When that peak is reached, in words.
std::string fullest_moment(const StepCosts& step, int device);

}  // namespace orrery
