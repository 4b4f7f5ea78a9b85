// The modules of selective recomputation that a row's recompute_detail names, or its convention:
// Megatron-Core's own names ("['moe', 'layernorm', 'core_attn', 'moe_act']", "moe_act layernorm")
// and short ones ("norm, act").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measured/measured_row.h"
#include "measured/run_convention.h"
#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

// Empty: the detail names none, which is core_attn. Nothing: it says something else.
std::optional<std::vector<RecomputeModule>> modules_of_row(const MeasuredRow& row,
                                                           const RunConvention& convention);

// Takes from the plan what nothing of the model is, as Megatron-Core passes it over; what was taken
// goes to `assumed`.
void drop_absent_modules(Plan& plan, const Model& model, std::vector<std::string>& assumed);

}  // namespace orrery
