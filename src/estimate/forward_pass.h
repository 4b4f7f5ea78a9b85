// What a recording is compared with beside the step: one forward pass predicted, by what it is
// spent on, and what launching a step takes the host.
#pragma once

#include "estimate/estimate.h"

namespace orrery {

// Of one microbatch through all layers, embedding, logits and loss, on one rank of each stage
// together. Adds up to the forward times of Estimate::stages. Errors: those of estimate().
Result<Breakdown> forward_breakdown(const Scenario& scenario, const Catalog& catalog);

// What launching the kernels of all forward and backward passes of a step takes the host of a rank,
// whether or not the device waits for it (plan/software.h, HostCosts); of the stage where it takes
// longest. Not counted: the optimizer, data loading, whatever waits for the device. Errors: those
// of estimate().
Result<Seconds> launching_time(const Scenario& scenario, const Catalog& catalog);

}  // namespace orrery
