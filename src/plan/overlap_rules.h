// Why communication cannot be hidden the way a plan says (plan/plan_rules.h).
#pragma once

#include "plan/plan_rules.h"

namespace orrery {

// Whether sums over tp travel beside products: of one half beside the other's, or of a module
// beside the next. Nothing may then wait for the gathers of sequence parallelism.
bool hides_sums(const Model& model, const Plan& plan);

// Exchanges of tokens beside another pass: no experts on other ranks, a schedule without pairs.
std::vector<std::string> expert_batch_problems(const JudgedPlan& judged);
// Halves of a microbatch: nothing that they would hide, sequences or attention that cannot be cut.
std::vector<std::string> half_problems(const JudgedPlan& judged);
// Tiles, buckets and modules that read earlier ones: nothing to reduce, or two ways at once.
std::vector<std::string> reduction_problems(const JudgedPlan& judged);

}  // namespace orrery
