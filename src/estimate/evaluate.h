// One plan of a scenario whose cost cache exists: what estimate and search share.
#pragma once

#include "estimate/estimate.h"
#include "lower/step_graph.h"

namespace orrery {

// `plan` must be complete and valid for the cache. Error: see step_graph.
Result<Estimate> evaluate(CostCache& cache, const Plan& plan);

// fits: even with the pessimistic allocator; tight: only with the expected one.
Verdict verdict(const MemoryReport& memory, ByteCount capacity);

}  // namespace orrery
