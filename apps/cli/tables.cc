// orrery tables: where the planner puts the embedding tables of a recommendation model, and why.
#include "command.h"
#include "document/value.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/table_placement.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "question.h"
#include "report/plans/table_placement_report.h"

namespace orrery::cli {

Result<int> tables_command(const TablesOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const Spec spec, ask(options.question, catalog));
  const auto& [model, cluster, training, plan, software, software_stated, zero_stated] =
      spec.scenario;
  const Recommender* recommender = recommender_of(model);
  if (recommender == nullptr) {
    return bad_input(model.name + " has no embedding tables to place", "model",
                     "a recommendation model, as those of orrery catalog recommendation");
  }
  const CompletedPlan completed = completed_plan(model, cluster, training, plan);
  std::string problems;
  for (const std::string& p : plan_problems(model, cluster, completed.training, completed.plan)) {
    problems += (problems.empty() ? "" : "; ") + p;
  }
  if (!problems.empty()) return bad_input(std::move(problems), "plan");
  const Division divided = division(cluster, completed.training, completed.plan);
  const ReportedPlacement placement =
      reported_placement(*recommender, divided, cluster.accelerators_per_node,
                         place_tables(*recommender, divided), cluster.name);
  const int printed = print(common.json ? to_json(placement_json(placement))
                                        : placement_text(placement, text_style()));
  if (printed != ExitCode::done) return printed;
  return placement.fits ? ExitCode::done : ExitCode::negative;
}

}  // namespace orrery::cli
