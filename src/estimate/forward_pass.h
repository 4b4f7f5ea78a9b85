// What a recording is compared with beside the step: one forward pass predicted, by what it is
// spent on, and what launching a step takes the host.
#pragma once

#include "estimate/predicted_step.h"
#include "timeline/breakdown.h"

namespace orrery {

// Of one microbatch through all layers, embedding, logits and loss, on one rank of each stage
// together. Adds up to the forward times of Estimate::stages.
Breakdown forward_breakdown(const PredictedStep& step);

// What launching the kernels of all forward and backward passes of a step takes the host of a rank,
// whether or not the device waits for it (plan/software.h, HostCosts); of the stage where it takes
// longest. Not counted: the optimizer, data loading, whatever waits for the device.
Seconds launching_time(const PredictedStep& step);

}  // namespace orrery
