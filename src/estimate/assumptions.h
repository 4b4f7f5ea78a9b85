// What an estimate takes for granted, in sentences: the list "Assumed" of estimate and search.
#pragma once

#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"

namespace orrery {

// In this order: defaults of plan and training, software, cluster, kernels, training conditions,
// products that are priced as padded, and what MFU leaves out. `e` is the estimate of `step`, whose
// MFU is known.
std::vector<std::string> assumptions(const PredictedStep& step, const Estimate& e);

// The fields of the plan whose values are those of the software, where these are not any plan's.
std::vector<std::string> chosen_by_software(const Scenario& scenario);

}  // namespace orrery
