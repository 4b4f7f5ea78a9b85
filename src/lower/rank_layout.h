// Where the groups of every mesh axis lie on the fabric.
//
// Ranks are laid out axis by axis in the plan's placement order, the first axis on neighbouring
// ranks. A group that combines two axes (gradients are shared over dp and cp) has, in one unit of a
// fabric level, the product of what each axis has there. Experts take their ranks from the same tp,
// cp and dp ranks: etp first, then ep, then the replicas of one expert (Megatron-Core's order).
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/cluster.h"
#include "cost/collective/group_shape.h"
#include "plan/plan.h"

namespace orrery {

struct RankLayout {
  GroupShape tp, cp, pp;
  GroupShape etp, ep;
  GroupShape dense_shard;   // ranks among which a dense parameter's state is divided
  GroupShape dense_outer;   // copies of that shard (HSDP); size 1 otherwise
  GroupShape expert_shard;  // the same for an expert's parameter
  GroupShape expert_outer;
  GroupShape world;
  GroupShape end_stages;                    // first and last stage: tied embeddings
  std::vector<std::size_t> boundary_level;  // fabric level between stage i and i+1 (mod pp)
};

// The plan must be complete and valid.
RankLayout rank_layout(const Plan& plan, const Cluster& cluster);

}  // namespace orrery
