// The derivations of what a plan does beyond the usual: documents, two dimensions of context
// parallelism, what lies outside the accelerators, compressed exchanges and local steps.
#pragma once

#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"

namespace orrery {

// Nothing of what the plan does not do.
std::vector<Derivation> strategy_derivations(const PredictedStep& step);

// What a step time does not say of plans that change what is learned in a step; empty for others.
std::string learning_note(const Plan& plan);

}  // namespace orrery
