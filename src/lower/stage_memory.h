// The memory of one pipeline device under a plan, from the schedule's own in-flight microbatches.
#pragma once

#include "cost/memory/memory.h"
#include "lower/step_costs.h"

namespace orrery {

// O(chunks).
MemoryReport stage_memory(const StepCosts& step, int device);

}  // namespace orrery
