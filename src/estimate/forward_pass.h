// One forward pass predicted, by what it is spent on: what a recording without a backward pass is
// compared with.
#pragma once

#include "estimate/estimate.h"

namespace orrery {

// Of one microbatch through all layers, embedding, logits and loss, on one rank of each stage
// together. Adds up to the forward times of Estimate::stages. Errors: those of estimate().
Result<Breakdown> forward_breakdown(const Scenario& scenario, const Catalog& catalog);

}  // namespace orrery
