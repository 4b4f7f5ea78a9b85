// What makes a completed plan impossible: a table of rules, each with the sentence it refuses with.
//
// The rules here concern degrees, ranks, batch and schedule. Whether a model can be divided so is
// asked of its family (model/family.h). Memory is no reason: a plan that does not fit is an answer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "model/division.h"
#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

// Degrees up to this can be multiplied; nothing that was built comes near it.
inline constexpr std::int64_t kMaxDegree = 10'000'000;

struct JudgedPlan {
  const Model& model;
  const Cluster& cluster;
  const Training& training;
  const Plan& plan;
};

struct PlanRule {
  enum class Kind {
    independent,
    stops,           // where it is broken, the rules behind it cannot be judged
    gives_replicas,  // where it is broken, dp is not known
    needs_replicas,  // cannot be judged without dp
  };
  std::string_view name;
  // The reasons why the plan breaks the rule, with the numbers; empty if it does not.
  std::vector<std::string> (*broken)(const JudgedPlan& judged);
  Kind kind = Kind::independent;
};
std::span<const PlanRule> plan_rules();

// Whether a group of `size` ranks fits the axes in placement order: it fills the inner axes and
// divides the next.
enum class Axes { replicas, all };
bool nests(const Plan& plan, Axes axes, std::int64_t size);

// What a family is asked about whether a plan can run: without the rates and prices that decide
// where tables lie (lower/model_costs.h, CostCache::division).
Division division(const Cluster& cluster, const Training& training, const Plan& plan);

// Every reason of every rule that can be judged, in the order of the table; empty if the plan can
// run. Cheap (no allocation when valid): search calls it for every candidate.
std::vector<std::string> plan_problems(const Model& model, const Cluster& cluster,
                                       const Training& training, const Plan& plan);

// Two rules that a search asks before it has a plan: why no accelerator of this kind multiplies in
// a format, with the formats it has, empty if it does; and modules of selective recomputation that
// are stated wrongly, or that nothing of the model is.
std::string format_problem(const Accelerator& accelerator, NumberFormat format);
std::string format_problem(const Cluster& cluster, NumberFormat format);  // of any site
std::vector<std::string> recompute_module_problems(const Model& model, const Plan& plan);

}  // namespace orrery
