// What an estimate takes for granted, in sentences: the list "Assumed" of estimate and search.
#pragma once

#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "lower/cost_context.h"

namespace orrery {

// In this order: defaults of plan and training (`completed`, from completed_plan), software,
// cluster, kernels, training conditions, products that are priced as padded, and what MFU leaves
// out.
std::vector<std::string> assumptions(const Scenario& scenario, std::vector<std::string> completed,
                                     const CostContext& context, const Estimate& estimate);

}  // namespace orrery
