// Why a division of long sequences and of rows of documents is impossible in a plan
// (plan/plan_rules.h), each with the nearest combination that works.
#pragma once

#include "plan/plan_rules.h"

namespace orrery {

// Ranks that do not divide into the stated groups, attention or documents that the way of
// communicating does not serve.
std::vector<std::string> context_problems(const JudgedPlan& judged);
// Documents that the model or the rows cannot have.
std::vector<std::string> row_problems(const JudgedPlan& judged);
// Losses and feed-forward parts that cannot be cut into tiles.
std::vector<std::string> tile_problems(const JudgedPlan& judged);

}  // namespace orrery
