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

// The groups of a training step; the index of each in the table of a step's graph.
enum class StepGroup : std::uint8_t {
  world,
  tensor,
  context,
  expert,
  replicas,    // ranks among which a dense parameter's state is divided
  end_stages,  // the first and the last, which share a tied embedding
  stages,
  expert_tensor,          // ranks that divide one expert's products
  replica_copies,         // copies of a shard of dense parameters (HSDP)
  expert_replicas,        // as `replicas`, of an expert's parameter
  expert_replica_copies,  // as `replica_copies`
  mirrored_stages,        // device i of the pipeline and device p-1-i, which hold the same stages
  context_heads,          // of `context`, the ranks that exchange heads, where not all of them do
  context_ring,           // and those that pass each other keys and values
  context_inner,          // of these, the ranks of an inner ring,
  context_outer,          // and one rank of each inner ring
  context_hop,            // two neighbours of the ring on different nodes
  secondary,              // of `replicas`, those that share a second copy of weights, or a node
  secondary_peers,        // of `replicas`, one rank of each of these groups
  tower,                  // of the ranks that share tables, those of one tower, or of one node
  tower_peers,            // one of each tower, at the same place
  expert_node,            // of `expert`, those of one node
  expert_peers,           // one of each node, at the same place
  weight_shard,           // of `replicas`, those that share weights,
  weight_peers,           // and one rank of each of these groups
  gradient_shard,         // the same of gradients
  gradient_peers,
  context_group,  // the smallest of the groups of context-parallel ranks by length; others follow
};
// Groups of every step. Behind them stand those of context-parallel ranks by the length of documents.
inline constexpr std::size_t kStepGroups = static_cast<std::size_t>(StepGroup::context_group);
inline GroupIndex index(StepGroup group) { return GroupIndex(static_cast<std::size_t>(group)); }

// `size` ranks, each `stride` after the one before.
struct RankSpan {
  std::int64_t size = 1;
  std::int64_t stride = 1;
};

struct RankLayout {
  GroupShape tp, cp, pp;
  GroupShape cp_heads, cp_ring;  // of cp, by head_ranks and ring_ranks of the plan
  GroupShape cp_inner, cp_outer, cp_hop;
  GroupShape etp, ep;
  GroupShape tower, tower_peers;  // of ep
  GroupShape ep_node, ep_peers;   // of ep
  GroupShape dense_shard;         // ranks among which a dense parameter's state is divided
  GroupShape secondary;           // of dense_shard, by the plan's secondary_shard or by nodes
  GroupShape weights, gradients;  // of dense_shard, by the plan's weight_shard and gradient_shard
  GroupShape dense_outer;         // copies of that shard (HSDP); size 1 otherwise
  GroupShape expert_shard;        // the same for an expert's parameter
  GroupShape expert_outer;
  GroupShape world;
  GroupShape end_stages;                    // first and last stage: tied embeddings
  std::vector<std::size_t> boundary_level;  // fabric level between stage i and i+1 (mod pp)
  // Which share of the accelerators of a unit below that level sends such a message out of the unit
  // at once: those of one stage. Forward and backward messages cross at different times.
  std::vector<double> boundary_crossing;
  std::vector<Group> groups;                 // the same shapes with their labels, by StepGroup
  std::vector<std::vector<RankSpan>> spans;  // of each group, from the fastest outwards
};

// Ranks that share a row, by the length of its documents: divisors of cp from 1 upwards.
std::vector<std::int64_t> context_group_sizes(std::int64_t cp);

// The plan must be complete and valid. Units of a level are counted from `first_rank`: of a cluster
// as a site of it sees it (cluster/cluster.h), that of the site; boundaries between stages outside
// that site then mean nothing.
RankLayout rank_layout(const Plan& plan, const Cluster& cluster, std::int64_t first_rank = 0);

// The ranks of the group that `rank` is in. Of the end stages: of those of its pipeline, even if it
// is not one of them.
std::vector<std::int64_t> members(const RankLayout& layout, StepGroup group, std::int64_t rank);

}  // namespace orrery
