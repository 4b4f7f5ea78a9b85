// What an estimate takes for granted, in sentences: the list "Assumed" of estimate and search.
#pragma once

#include <string>
#include <vector>

#include "estimate/predicted_step.h"
#include "estimate/scenario.h"

namespace orrery {

// In this order: defaults of plan and training, software, cluster, kernels, training conditions,
// products that are priced as padded, and what documents and dropped tokens leave out.
std::vector<std::string> assumptions(const PredictedStep& step);

// The fields of the plan whose values are those of the software, where these are not any plan's and
// mean something to that workload.
std::vector<std::string> chosen_by_software(const Scenario& scenario, const Plan& plan,
                                            Workload workload);

}  // namespace orrery
