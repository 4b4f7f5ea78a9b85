// orrery tables: where the planner puts the embedding tables of a recommendation model, and why.
#include "tables.h"

#include "document/value.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/table_placement.h"
#include "plan/plan_rules.h"
#include "question.h"
#include "report/plans/table_placement_report.h"

namespace orrery::cli {

void add_tables(CLI::App* app, Question& q) {
  app->add_option("model", q.model, "a recommendation model: a catalog name, or a file in YAML")
      ->required();
  app->add_option("--on", q.cluster, "the cluster: h100-sxm:64, or as for estimate");
  app->add_option("--plan", q.plan, "the plan: ep=8,tp=2,...");
  app->add_option("--workload", q.workload, "what is run: training, forward (evaluation)");
  app->add_option("--global-batch", q.global_batch, "samples of a step: 65536");
  app->add_option("--precision", q.precision, "of what is exchanged: bf16, fp16, tf32, fp32");
  app->footer("Example:\n  orrery tables dlrm-dcnv2-mlperf --on h100-sxm:8 --global-batch 55296");
}

Result<int> tables_command(const TablesOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const Spec spec, ask(options.question, catalog));
  const Model& model = spec.scenario.model;
  const Cluster& cluster = spec.scenario.cluster;
  const Recommender* recommender = recommender_of(model);
  if (recommender == nullptr) {
    return bad_input(model.name + " has no embedding tables to place", "model",
                     "a recommendation model, as those of orrery catalog recommendation");
  }
  ORRERY_TRY(const PredictedStep step, predict(spec.scenario, catalog));
  const Division divided = division(cluster, step.training(), step.plan());
  const ReportedPlacement placement = reported_placement(
      *recommender, divided, cluster.accelerators_per_node, place_tables(*recommender, divided),
      cluster.name, estimate(step).stages.front().memory, cluster.accelerator.memory.capacity);
  const int printed = print(common.json ? to_json(placement_json(placement))
                                        : placement_text(placement, text_style()));
  if (printed != ExitCode::done) return printed;
  return placement.fits ? ExitCode::done : ExitCode::negative;
}

}  // namespace orrery::cli
