// The defaults that complete a plan, each said in a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

struct CompletedPlan {
  Training training;
  Plan plan;
  std::vector<std::string> assumed;  // "dp = 128: 16384 GPUs / (8 tp x 16 pp)"
};

// Tokens of a sequence where nobody states them: those the model was trained with, or 4096.
std::int64_t usual_sequence_length(const Model& model);

// Fills what is left at its default. Does not judge: see plan_rules.h.
CompletedPlan completed_plan(const Model& model, const Cluster& cluster, Training training,
                             Plan plan);

}  // namespace orrery
