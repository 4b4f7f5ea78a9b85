#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "search/candidate.h"

namespace orrery {

void add_sequence_neighbours(const Plan& plan, const Scenario& scenario, const SearchSpace& space,
                             std::vector<Plan>& out) {
  const auto free = [&](std::string_view field) { return !is_stated(space, field); };
  const auto with = [&](auto change) {
    Plan other = plan;
    change(other);
    if (!(other == plan)) out.push_back(std::move(other));
  };
  const std::int64_t node = scenario.cluster.accelerators_per_node;
  if (plan.cp > 1 && free("context_parallel")) {
    for (const auto kind : {ContextParallel::token_ring, ContextParallel::dimension_switch}) {
      with([&](Plan& p) {
        p.context_parallel = kind;
        p.inner_ring = 0;
      });
    }
  }
  if (plan.context_parallel == ContextParallel::ring && free("inner_ring")) {
    with([](Plan& p) { p.inner_ring = 0; });
    with([&](Plan& p) {
      p.inner_ring =
          std::min(ring_ranks(p), std::max<std::int64_t>(1, node / (p.tp * head_ranks(p))));
    });
  }
  if (plan.cp > 1 && !scenario.training.documents.lengths.empty() && free("context_groups")) {
    for (const ContextGroups groups : {ContextGroups::fixed, ContextGroups::by_length}) {
      with([&](Plan& p) { p.context_groups = groups; });
    }
  }
  // Tiles as long as the residual stream is wide, as ALST cuts them (arXiv 2506.13996 s.3.1.1).
  const std::int64_t sequences =
      plan.site_micro_batch.empty() ? plan.micro_batch : std::ranges::max(plan.site_micro_batch);
  const double tokens = static_cast<double>(sequences) *
                        static_cast<double>(scenario.training.sequence_length) /
                        static_cast<double>(plan.cp);
  const auto tiles = static_cast<std::int64_t>(std::max(1.0, tokens / scenario.model.width));
  for (const auto& [field, of] :
       {std::pair{"loss_tiles", &Plan::loss_tiles}, {"mlp_tiles", &Plan::mlp_tiles}}) {
    if (plan.tp > 1 || !free(field)) continue;
    for (const std::int64_t count : {std::int64_t{1}, tiles}) {
      with([&, of = of](Plan& p) { p.*of = count; });
    }
  }
  for (const auto& [field, of, zero] :
       {std::tuple{"gradient_shard", &Plan::gradient_shard, std::int64_t{2}},
        {"weight_shard", &Plan::weight_shard, std::int64_t{3}}}) {
    if (plan.zero < zero || !free(field)) continue;
    for (const std::int64_t ranks : {std::int64_t{0}, node}) {
      with([&, of = of](Plan& p) { p.*of = ranks; });
    }
  }
}

}  // namespace orrery
