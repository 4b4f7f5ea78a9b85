#include "lower/rank_layout.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace orrery {
namespace {

using Span = RankSpan;

GroupShape product(const std::vector<Span>& spans, const std::vector<std::int64_t>& domain) {
  GroupShape out;
  out.members.assign(domain.size(), 1);
  for (const Span& s : spans) {
    if (s.size == 1) continue;
    const GroupShape one = group_shape(static_cast<int>(s.size), s.stride, domain);
    out.size *= one.size;
    for (std::size_t l = 0; l < domain.size(); ++l) out.members[l] *= one.members[l];
  }
  return out;
}

// The part of `pool` (axes from the fastest outwards) that skips `skip` ranks and then takes
// `size`.
std::vector<Span> taken(const std::vector<Span>& pool, std::int64_t skip, std::int64_t size) {
  std::vector<Span> out;
  for (Span s : pool) {
    const std::int64_t skipped = std::min(skip, s.size);
    skip = std::max<std::int64_t>(1, skip / std::max<std::int64_t>(1, skipped));
    s.stride *= skipped;
    s.size /= skipped;
    const std::int64_t here = std::min(size, s.size);
    if (here > 1) out.push_back({here, s.stride});
    size = std::max<std::int64_t>(1, size / std::max<std::int64_t>(1, here));
  }
  return out;
}

// Of a rank among units of `size`; those before rank 0 have negative numbers.
std::int64_t unit(std::int64_t rank, std::int64_t size) {
  return rank < 0 ? -1 - (-1 - rank) / size : rank / size;
}

}  // namespace

RankLayout rank_layout(const Plan& plan, const Cluster& cluster, std::int64_t first_rank) {
  std::vector<std::int64_t> domain;
  for (const FabricLevel& level : cluster.levels) domain.push_back(level.accelerators);

  Span tp, cp, dp, pp;
  std::vector<Span> pool;  // tp, cp, dp in placement order: where experts live
  std::int64_t stride = 1;
  for (const MeshAxis axis : plan.placement) {
    const auto place = [&](Span& span, std::int64_t size) {
      span = {size, stride};
      stride *= size;
    };
    switch (axis) {
      case MeshAxis::tp:
        place(tp, plan.tp);
        pool.push_back(tp);
        break;
      case MeshAxis::cp:
        place(cp, plan.cp);
        pool.push_back(cp);
        break;
      case MeshAxis::dp:
        place(dp, plan.dp);
        pool.push_back(dp);
        break;
      case MeshAxis::pp:
        place(pp, plan.pp);
        break;
      case MeshAxis::ep:
        break;  // taken from tp, cp and dp
    }
  }
  std::vector<Span> replicas;  // cp and dp in placement order: copies of a dense parameter
  for (const MeshAxis axis : plan.placement) {
    if (axis == MeshAxis::cp) replicas.push_back(cp);
    if (axis == MeshAxis::dp) replicas.push_back(dp);
  }

  const std::int64_t dense = plan.dp * plan.cp;
  const std::int64_t shard = state_shard(plan);
  const std::int64_t etp = plan.etp == 0 ? 1 : plan.etp;
  const std::int64_t expert = plan.tp * dense / (etp * plan.ep);
  // Of the replicas of an expert, those that share its state; where copies of the model take local
  // steps, those of one copy.
  const std::int64_t expert_limit =
      trains_copies_apart(plan) ? std::max<std::int64_t>(1, plan.tp * shard / (etp * plan.ep))
                                : shard;
  // Whole groups: as many as divide both.
  const std::int64_t expert_shard = plan.shard_group > 0 ? std::gcd(expert_limit, expert) : expert;

  RankLayout out;
  const auto add = [&](const std::string& label, GroupShape& shape, std::vector<Span> spans) {
    shape = product(spans, domain);
    out.groups.push_back({label, shape});
    out.spans.push_back(std::move(spans));
  };
  // In the order of StepGroup.
  add("world", out.world, {{cluster.accelerators, 1}});
  add("tensor", out.tp, {tp});
  add("context", out.cp, {cp});
  add("expert", out.ep, taken(pool, etp, plan.ep));
  add("replicas", out.dense_shard, taken(replicas, 1, shard));
  add("end stages", out.end_stages, {{plan.pp > 1 ? 2 : 1, pp.stride * (plan.pp - 1)}});
  add("stages", out.pp, {pp});
  add("expert tensor", out.etp, taken(pool, 1, etp));
  add("copies of replicas", out.dense_outer, taken(replicas, shard, dense / shard));
  add("expert replicas", out.expert_shard, taken(pool, etp * plan.ep, expert_shard));
  add("copies of expert replicas", out.expert_outer,
      taken(pool, etp * plan.ep * expert_shard, expert / expert_shard));
  // Priced as the farthest pair, which is that of the end stages.
  GroupShape mirrored;
  add("mirrored stages", mirrored, out.spans[static_cast<std::size_t>(StepGroup::end_stages)]);
  const bool head_first = plan.context_placement == ContextPlacement::head_first;
  const std::int64_t heads = head_ranks(plan);
  const std::int64_t ring = ring_ranks(plan);
  add("head exchange", out.cp_heads, {{heads, cp.stride * (head_first ? 1 : ring)}});
  const std::int64_t ring_stride = cp.stride * (head_first ? heads : 1);
  add("context ring", out.cp_ring, {{ring, ring_stride}});
  const std::int64_t inner = plan.inner_ring > 0 ? plan.inner_ring : ring;
  add("inner context ring", out.cp_inner, {{inner, ring_stride}});
  add("outer context ring", out.cp_outer, {{ring / inner, ring_stride * inner}});
  // As far from each other as the ring reaches, if several of its ranks are on a node.
  const std::int64_t ring_in_node = out.cp_ring.members.front();
  const bool crosses = ring_in_node > 1 && ring_in_node < ring;
  add("hop of the context ring", out.cp_hop, {{crosses ? 2 : 1, ring_stride * ring_in_node}});
  const std::int64_t node = std::max(1, out.dense_shard.members.front());
  const std::int64_t secondary = plan.secondary_shard > 0 ? plan.secondary_shard
                                 : shard % node == 0      ? node
                                                          : 1;
  add("secondary shard", out.secondary, taken(replicas, 1, secondary));
  GroupShape peers;
  add("peers of secondary shards", peers, taken(replicas, secondary, shard / secondary));
  const std::int64_t tower = ranks_of_tower(plan, domain.front());
  add("tower", out.tower, taken(pool, etp, tower));
  add("tower peers", out.tower_peers, taken(pool, etp * tower, plan.ep / tower));
  const std::int64_t near = std::max(1, out.ep.members.front());
  const std::int64_t in_node = plan.ep % near == 0 ? near : 1;
  add("experts of a node", out.ep_node, taken(pool, etp, in_node));
  add("peers of nodes", out.ep_peers, taken(pool, etp * in_node, plan.ep / in_node));
  const auto shared = [&](const char* name, const char* of, GroupShape& shape, std::int64_t size) {
    add(name, shape, taken(replicas, 1, size));
    add(of, peers, taken(replicas, size, shard / size));
  };
  shared("weight shard", "peers of weight shards", out.weights, weight_shard(plan));
  shared("gradient shard", "peers of gradient shards", out.gradients, gradient_shard(plan));
  if (plan.context_groups == ContextGroups::by_length) {
    GroupShape of_length;
    for (const std::int64_t size : context_group_sizes(plan.cp)) {
      add("context of " + std::to_string(size), of_length, {{size, cp.stride}});
    }
  }
  for (std::int64_t i = 0; i < plan.pp; ++i) {
    const std::int64_t from = i * pp.stride - first_rank;
    const std::int64_t to = (i + 1) % plan.pp * pp.stride - first_rank;
    std::size_t level = 0;
    while (level + 1 < domain.size() && unit(from, domain[level]) != unit(to, domain[level])) {
      ++level;
    }
    out.boundary_level.push_back(level);
    const std::int64_t inside = level == 0 ? 1 : domain[level - 1];
    out.boundary_crossing.push_back(
        std::min(1.0, static_cast<double>(pp.stride) / static_cast<double>(inside)));
  }
  return out;
}

std::vector<std::int64_t> context_group_sizes(std::int64_t cp) {
  std::vector<std::int64_t> out;
  for (std::int64_t size = 1; size <= cp; ++size) {
    if (cp % size == 0) out.push_back(size);
  }
  return out;
}

std::vector<std::int64_t> members(const RankLayout& layout, StepGroup group, std::int64_t rank) {
  const auto spans_of = [&](StepGroup g) -> const std::vector<Span>& {
    return layout.spans[static_cast<std::size_t>(g)];
  };
  if (group == StepGroup::mirrored_stages) {
    const Span stages = spans_of(StepGroup::stages).front();
    const std::int64_t stage = rank / stages.stride % stages.size;
    const std::int64_t mirror = rank + (stages.size - 1 - 2 * stage) * stages.stride;
    if (mirror == rank) return {rank};
    return {std::min(rank, mirror), std::max(rank, mirror)};
  }
  // Its two stages are told apart by no digit of a rank's number: the digit is that of the stage.
  const StepGroup digits = group == StepGroup::end_stages ? StepGroup::stages : group;
  std::vector<std::int64_t> out = {rank};
  for (const Span& span : spans_of(digits)) out[0] -= rank / span.stride % span.size * span.stride;
  for (const Span& span : spans_of(group)) {
    const std::size_t before = out.size();
    for (std::int64_t i = 1; i < span.size; ++i) {
      for (std::size_t r = 0; r < before; ++r) out.push_back(out[r] + i * span.stride);
    }
  }
  return out;
}

}  // namespace orrery
