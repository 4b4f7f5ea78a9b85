// Why what lies outside the accelerators, compressed communication and local steps are impossible in
// a plan (plan/plan_rules.h), each with the nearest combination that works.
#pragma once

#include "plan/plan_rules.h"

namespace orrery {

// No zero 3 for weights, no storage for nvme, an unknown rate of the host, states that a node's host
// memory or storage cannot hold.
std::vector<std::string> offload_problems(const JudgedPlan& judged);
// Gradients that take the place of weights: too wide, or weights that are still needed.
std::vector<std::string> gradient_place_problems(const JudgedPlan& judged);
std::vector<std::string> compression_problems(const JudgedPlan& judged);
std::vector<std::string> local_step_problems(const JudgedPlan& judged);
// Weights or gradients that other ranks share than the optimizer's states.
std::vector<std::string> shard_problems(const JudgedPlan& judged);

}  // namespace orrery
