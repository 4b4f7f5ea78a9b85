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

// What an estimate takes for granted, in sentences: the list "Assumed" of estimate and search.

// In this order: defaults of plan and training, software, cluster, kernels, training conditions,
// products that are priced as padded, and what MFU leaves out. `e` is the estimate of `step`, whose
// MFU is known.
std::vector<std::string> assumptions(const PredictedStep& step, const Estimate& e);

}  // namespace orrery
