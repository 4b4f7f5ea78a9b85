// The plan and training of a measured row: degrees, batch, sharding, recomputation, kernels,
// overlap. What the row leaves open is decided by the convention of its source.
#pragma once

#include <string>
#include <vector>

#include "measured/expressible.h"
#include "measured/measured_row.h"
#include "measured/run_convention.h"
#include "plan/plan.h"

namespace orrery {

struct RowPlan {
  Training training;
  Plan plan;
  bool gradients_stated = false;  // otherwise training.gradients is the format's usual one
  std::vector<std::string> assumed;
};

// Skipped: the reasons listed in scenario_of_row.h.
Expressible<RowPlan> plan_of_row(const MeasuredRow& row, const RunConvention& convention);

}  // namespace orrery
