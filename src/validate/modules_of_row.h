// The modules of selective recomputation that a row's recompute_detail names.
//
// Megatron-Core's own names ("['moe', 'layernorm', 'core_attn', 'moe_act']", "moe_act layernorm"),
// the short ones of Megatron-MoE-ModelZoo ("norm, act"), and MaxText's policy minimal_with_context,
// which keeps the results of products and of attention and makes norms and activations again
// (MaxText/layers/decoders.py, minimal_policy).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model.h"
#include "plan/plan.h"
#include "validate/measured_row.h"

namespace orrery {

// Empty: the detail names none, which is core_attn. Nothing: it says something else.
std::optional<std::vector<RecomputeModule>> modules_of_row(const MeasuredRow& row);

// Takes from the plan what nothing of the model is, as Megatron-Core passes it over; what was taken
// goes to `assumed`.
void drop_absent_modules(Plan& plan, const Model& model, std::vector<std::string>& assumed);

}  // namespace orrery
