// What makes a plan valid, and the defaults that complete one.
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
  std::vector<std::string> assumed;  // one line a default: "dp = 128: 16384 GPUs / (8 tp x 16 pp)"
};

// Fills what is left at its default and says so. Does not judge: see plan_problems.
CompletedPlan completed_plan(const Model& model, const Cluster& cluster, Training training,
                             Plan plan);

// Every reason why a completed plan cannot run, in words with the numbers; empty if it can. Memory
// is no reason here. Cheap (no allocation when valid): search calls it for every candidate.
std::vector<std::string> plan_problems(const Model& model, const Cluster& cluster,
                                       const Training& training, const Plan& plan);

// Why no accelerator of this kind multiplies in a format, with the formats it has; empty if it
// does.
std::string format_problem(const Accelerator& accelerator, NumberFormat format);

// Of selective recomputation: modules that are stated wrongly, or that nothing of the model is.
std::vector<std::string> recompute_module_problems(const Model& model, const Plan& plan);

// Whether tensor-parallel ranks hold copies of key-value heads: there are more ranks than heads,
// and each head comes out on equally many. Not with latent attention, whose heads are all query
// heads.
bool copies_key_value_heads(const Architecture& architecture, std::int64_t tp);

// Microbatches a replica works through in one step; the plan must be valid.
int microbatches(const Training& training, const Plan& plan);

}  // namespace orrery
