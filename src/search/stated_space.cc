#include "search/stated_space.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "schedule/schedule.h"
#include "search/candidate.h"

namespace orrery {

Result<SearchSpace> stated_space(const Spec& spec, const std::vector<std::string>& named) {
  SearchSpace space;
  space.stated = spec.stated;
  if (!named.empty()) space.stated.emplace_back("schedule");
  for (const std::string& name : named) {
    if (name == "all") {
      for (const Schedule& s : schedules()) {
        if (can_be_searched(s)) space.schedules.emplace_back(s.name);
      }
      continue;
    }
    ORRERY_TRY(const Schedule* schedule, find_schedule(name));
    space.schedules.emplace_back(schedule->name);
  }
  const Plan& plan = spec.scenario.plan;
  for (const std::string& field : spec.stated) {
    if (field == "tp") space.tp = {plan.tp};
    if (field == "cp") space.cp = {plan.cp};
    if (field == "pp") space.pp = {plan.pp};
    if (field == "dp" && plan.dp > 0) space.dp = {plan.dp};
    if (field == "recompute_layers") space.recompute_layers = {plan.recompute_layers};
    if (field == "ep") space.ep = {plan.ep};
    if (field == "chunks") space.chunks = {plan.chunks};
    if (field == "micro_batch" || field == "site_micro_batch")
      space.micro_batch = {plan.micro_batch};
    if (field == "zero") space.zero = {plan.zero};
    if (field == "recompute") space.recompute = {plan.recompute};
    // Modules are of selective recomputation alone.
    if (field == "recompute_modules" && space.recompute.empty()) {
      space.recompute = {Recompute::selective};
      space.stated.emplace_back("recompute");
    }
    if (field == "dispatch") space.dispatch = {plan.dispatch};
    if (field == "context_parallel") space.context_parallel = {plan.context_parallel};
    if (field == "table_sharding") space.table_sharding = {plan.table_sharding};
    if (field == "towers") space.towers = {plan.towers};
    if (field == "codec") space.codec = {plan.codec};
    if (field == "schedule") space.schedules = {plan.schedule};
    if (field == "placement") space.placements = {plan.placement};
  }
  return space;
}

Result<void> add_axes(SearchSpace& space, const std::vector<std::string>& axes) {
  for (const std::string& text : axes) {
    ORRERY_TRY(FurtherAxis axis, further_axis(text));
    if (std::ranges::find(space.stated, axis.field) != space.stated.end()) {
      return bad_input("is stated by the plan as well", axis.field, "leave one of them out");
    }
    if (std::ranges::find(space.further, axis.field, &FurtherAxis::field) != space.further.end()) {
      return bad_input("is given twice", axis.field);
    }
    space.further.push_back(std::move(axis));
    constexpr std::size_t kMostCombinations = 10'000;
    if (combinations(space.further) > kMostCombinations) {
      return bad_input("more than 10000 combinations of values", "", "fewer axes or values");
    }
  }
  return {};
}

}  // namespace orrery
