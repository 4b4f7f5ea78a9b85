// Candidates in which sites that differ divide work unevenly (lower/division_by_speed.h).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lower/division_by_speed.h"
#include "lower/optimal_recompute.h"
#include "plan/plan_rules.h"
#include "plan/site_division.h"
#include "plan/stage_layers.h"
#include "search/candidate.h"

namespace orrery {

std::vector<Candidate> members_and_divided(const CandidateGroup& group, const SearchSpace& space,
                                           const Scenario& scenario) {
  std::vector<Candidate> out =
      members(group, space, static_cast<std::int64_t>(scenario.model.layers.size()));
  if (out.empty() || scenario.cluster.further_sites.empty()) return out;
  const Plan plan = plan_of(out.front(), space, scenario.plan, scenario.cluster.accelerators);
  const bool stages = outermost_axis(plan) == MeshAxis::pp;
  if (!(stages ? plan.layers : plan.site_microbatches).empty()) return out;
  const std::size_t even = out.size();
  const bool sized = !stages && space.micro_batch.size() > 1 && plan.site_micro_batch.empty() &&
                     plan.micro_batch == space.micro_batch.front();
  for (const SiteWork work : {SiteWork::by_speed, SiteWork::sized}) {
    if (work == SiteWork::sized && !sized) continue;
    for (std::size_t i = 0; i < even; ++i) {
      out.push_back(out[i]);
      out.back().sites = work;
    }
  }
  return out;
}

bool divides_evenly(const Plan& plan, const Scenario& scenario) {
  const std::vector<std::int64_t>& shares = plan.site_microbatches;
  if (!plan.site_micro_batch.empty()) return false;
  if (!shares.empty()) return std::ranges::count(shares, shares.front()) == std::ssize(shares);
  const auto layers = static_cast<std::int64_t>(scenario.model.layers.size());
  return plan.layers.empty() || plan.layers == even_layers(layers, plan.pp * plan.chunks);
}

Plan divided_among_sites(SiteWork work, const Plan& asked, const SearchSpace& space,
                         CostCache& cache) {
  const auto solved = [&](Plan plan) {
    if (asked.recompute != Recompute::optimal) return plan;
    plan.recompute = Recompute::optimal;
    return optimal_recompute(cache, plan).plan;
  };
  if (work == SiteWork::even) return solved(asked);
  if (work == SiteWork::by_speed) return solved(divided_by_speed(step_costs(cache, solved(asked))));
  std::vector<Plan> sizes;
  Training whole = cache.training();
  for (const std::int64_t micro_batch : space.micro_batch) {
    if (micro_batch < 1) continue;
    // No part of the batch need be a multiple of every size: as many microbatches as it has room for.
    Plan size = asked;
    size.micro_batch = micro_batch;
    const std::int64_t microbatches = cache.training().global_batch / (asked.dp * micro_batch);
    size.site_microbatches.assign(cache.sites(), microbatches);
    whole.global_batch = microbatches * asked.dp * micro_batch;
    if (plan_problems(cache.model(), cache.context().cluster, whole, size).empty()) {
      sizes.push_back(std::move(size));
    }
  }
  if (asked.recompute != Recompute::optimal) return sized_by_site(cache, sizes).value_or(asked);
  // Sites follow one recomputation: each that is the cheapest of one size everywhere is tried.
  std::optional<Plan> best;
  Picoseconds least;
  for (const Plan& size : sizes) {
    const Plan followed = solved(size);
    std::vector<Plan> with_one_recomputation = sizes;
    for (Plan& plan : with_one_recomputation) {
      plan.recompute = followed.recompute;
      plan.recompute_modules = followed.recompute_modules;
      plan.recompute_layers = followed.recompute_layers;
    }
    if (const std::optional<Plan> sized = sized_by_site(cache, with_one_recomputation)) {
      Plan plan = solved(*sized);
      const Picoseconds bound = lower_bound(step_costs(cache, plan));
      if (!best || bound < least) {
        best = std::move(plan);
        least = bound;
      }
    }
  }
  return best ? *std::move(best) : solved(asked);
}

}  // namespace orrery
