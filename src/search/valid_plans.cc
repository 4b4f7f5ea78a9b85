// Why plans of a space are not valid, for those who asked for them (search/candidate.h).
#include <fmt/core.h>

#include <algorithm>

#include "cluster/accelerator_noun.h"
#include "plan/plan_rules.h"
#include "search/candidate.h"

namespace orrery {

std::string no_valid_plan(const SearchSpace& space, const Scenario& scenario) {
  std::string reasons =
      fmt::format("no combination of degrees divides the {}s and the global batch",
                  accelerator_noun(scenario.cluster));
  for (const CandidateGroup& group : groups(space, scenario)) {
    const auto list =
        members(group, space, static_cast<std::int64_t>(scenario.model.layers.size()));
    if (list.empty()) continue;
    const Plan plan = plan_of(list.front(), space, scenario.plan, scenario.cluster.accelerators);
    const auto problems = plan_problems(scenario.model, scenario.cluster, scenario.training, plan);
    if (problems.empty()) continue;
    reasons = "for example " + to_text(plan) + ": " + problems.front();
    break;
  }
  return "no valid plan in the space: " + reasons;
}

namespace {

// A value of an axis, and why plans that have it are not valid.
struct AskedValue {
  std::size_t axis = 0;
  std::size_t value = 0;
  std::size_t stride = 1;  // between the combinations of two values
  bool tried = false;
  std::string reason = {};
  bool alone = false;  // the plan is valid with another value
};

std::vector<AskedValue> asked_values(const std::vector<FurtherAxis>& axes) {
  std::vector<AskedValue> out;
  std::size_t stride = 1;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::size_t values = axes[axis].values.size();
    for (std::size_t v = 0; v < values; ++v) out.push_back({axis, v, stride});
    stride *= values;
  }
  return out;
}

}  // namespace

std::vector<std::string> never_tried(const SearchSpace& space, const Scenario& scenario) {
  if (space.further.empty()) return {};
  std::vector<AskedValue> asked = asked_values(space.further);
  const auto problems = [&](Candidate c, std::size_t combination) {
    c.further = static_cast<std::uint32_t>(combination);
    const Plan plan = plan_of(c, space, scenario.plan, scenario.cluster.accelerators);
    return plan_problems(scenario.model, scenario.cluster, scenario.training, plan);
  };
  const auto look_at = [&](const Candidate& c) {
    std::vector<AskedValue*> of;
    for (AskedValue& a : asked) {
      const std::size_t values = space.further[a.axis].values.size();
      if (!a.tried && c.further / a.stride % values == a.value) of.push_back(&a);
    }
    if (of.empty()) return;
    const std::vector<std::string> reasons = problems(c, c.further);
    for (AskedValue* a : of) {
      a->tried = reasons.empty();
      if (a->tried || a->alone) continue;
      const std::size_t first = c.further - a->value * a->stride;
      for (std::size_t v = 0; v < space.further[a->axis].values.size() && !a->alone; ++v) {
        a->alone = v != a->value && problems(c, first + v * a->stride).empty();
      }
      if (a->alone || a->reason.empty()) a->reason = reasons.front();
    }
  };
  for (const CandidateGroup& group : groups(space, scenario)) {
    if (std::ranges::all_of(asked, &AskedValue::tried)) break;
    const auto layers = static_cast<std::int64_t>(scenario.model.layers.size());
    for (const Candidate& c : members(group, space, layers)) look_at(c);
  }
  std::vector<std::string> out;
  for (const AskedValue& a : asked) {
    if (a.tried) continue;
    const FurtherAxis& axis = space.further[a.axis];
    out.push_back(
        fmt::format("{}={}: {}", axis.field, axis.names[a.value],
                    a.reason.empty() ? "no degree of these plans gives it a meaning" : a.reason));
  }
  return out;
}

}  // namespace orrery
