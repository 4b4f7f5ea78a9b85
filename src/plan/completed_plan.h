// The defaults that complete a plan, each said in a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

// "global batch 512 sequences: the model's own 2097152 tokens, in whole microbatches": how it is
// said that nobody stated the batch. `otherwise`: where it comes from if neither the model has a
// batch of its own nor the plan makes one.
std::string assumed_batch(const Model& model, const Plan& plan, std::int64_t sequences,
                          std::string_view otherwise);

// Fills what is left at its default. Does not judge: see plan_rules.h.
CompletedPlan completed_plan(const Model& model, const Cluster& cluster, Training training,
                             Plan plan);

}  // namespace orrery
