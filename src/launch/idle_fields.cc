#include <vector>

#include "launch/launch.h"

namespace orrery {

Plan without_idle_fields(Plan plan) {
  const Plan initial;
  Overlap& overlap = plan.overlap;
  if (plan.tp == 1) {
    plan.sequence_parallel = initial.sequence_parallel;
    overlap.tensor_parallel = initial.overlap.tensor_parallel;
  }
  if (plan.cp == 1) plan.context_parallel = initial.context_parallel;
  if (plan.pp == 1) {
    plan.schedule = initial.schedule;
    plan.group = initial.group;
    overlap.pipeline = initial.overlap.pipeline;
  }
  if (plan.dp * plan.cp == 1) {
    plan.zero = initial.zero;
    overlap.gradient_reduction = initial.overlap.gradient_reduction;
  }
  if (plan.zero == 0 || plan.dp * plan.cp == 1) {
    overlap.parameter_gather = initial.overlap.parameter_gather;
  }
  if (plan.shard_group == plan.dp * plan.cp) plan.shard_group = 0;
  if (plan.ep == 1) {
    plan.dispatch = initial.dispatch;
    if (plan.etp == plan.tp) plan.etp = 0;
    overlap.expert = overlap.expert_batches = false;
  } else if (plan.etp == 1) {
    plan.etp = 0;
  }
  if (plan.recompute_modules == std::vector{RecomputeModule::core_attn}) {
    plan.recompute_modules.clear();
  }
  return plan;
}

}  // namespace orrery
