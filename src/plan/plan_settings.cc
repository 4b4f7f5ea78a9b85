#include "plan/plan_settings.h"

#include <fmt/format.h>

namespace orrery {

std::string plan_settings(Plan plan) {
  const Plan defaults;
  if (plan.etp == (plan.ep > 1 ? 1 : plan.tp)) plan.etp = defaults.etp;
  if (plan.tp == 1) plan.sequence_parallel = defaults.sequence_parallel;
  if (plan.pp == 1 || plan.schedule == (plan.chunks > 1 ? "interleaved_1f1b" : "1f1b")) {
    plan.schedule = defaults.schedule;
  }
  // The default of software differs from that of a plan.
  std::string out = to_text(plan);
  if (plan.zero == defaults.zero)
    out += fmt::format("{}zero={}", out.empty() ? "" : ",", plan.zero);
  return out;
}

}  // namespace orrery
