// orrery tables: where the planner puts the embedding tables of a recommendation model, and why;
// and which of them share a tower.
#include "tables.h"

#include <utility>

#include "document/comma_separated.h"
#include "document/value.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/table_placement.h"
#include "plan/plan_rules.h"
#include "question.h"
#include "report/plans/table_placement_report.h"

namespace orrery::cli {

void add_tables(CLI::App* app, TablesOptions& options) {
  Question& q = options.question;
  app->add_option("model", q.model, "a recommendation model: a catalog name, or a file in YAML")
      ->required();
  app->add_option("--on", q.cluster, "the cluster: h100-sxm:64, or as for estimate");
  app->add_option("--plan", q.plan, "the plan: ep=8,tp=2,...");
  app->add_option("--workload", q.workload, "what is run: training, forward (evaluation)");
  app->add_option("--global-batch", q.global_batch, "samples of a step: 65536");
  app->add_option("--precision", q.precision, "of what is exchanged: bf16, fp16, tf32, fp32");
  app->add_option("--similarities", options.similarities,
                  "divide the features into towers by these: a CSV file whose header names them, "
                  "with a row of cosines for each; at most 1,000 features");
  app->add_option("--towers", options.towers, "with --similarities: how many");
  app->add_option(
      "--strategy", options.strategy,
      "with --similarities: coherent (default: features that are alike share a tower) or diverse");
  app->footer(
      "Examples:\n"
      "  orrery tables dlrm-dcnv2-mlperf --on h100-sxm:8 --global-batch 55296\n"
      "  orrery tables dlrm-dcnv2-mlperf --similarities cosines.csv --towers 8");
}

namespace {

Result<const Recommender*> with_tables(const Model& model) {
  const Recommender* recommender = recommender_of(model);
  if (recommender != nullptr) return recommender;
  return bad_input(model.name + " has no embedding tables to place", "model",
                   "a recommendation model, as those of orrery catalog recommendation");
}

Result<int> towers_command(const TablesOptions& options, const Catalog& catalog,
                           const Common& common) {
  const Question& q = options.question;
  for (const auto& [option, value] :
       {std::pair("--on", &q.cluster), std::pair("--plan", &q.plan),
        std::pair("--workload", &q.workload), std::pair("--global-batch", &q.global_batch),
        std::pair("--precision", &q.precision)}) {
    if (value->empty()) continue;
    return bad_input("the division of features into towers does not depend on it", option,
                     "leave it out beside --similarities");
  }
  if (options.towers == 0) {
    return bad_input("how many towers is not given", "--towers", "such as --towers 8");
  }
  ORRERY_TRY(const Model model, load_model(q.model, catalog));
  ORRERY_TRY(const Recommender* recommender, with_tables(model));
  ORRERY_TRY(const TowerStrategy strategy,
             at("--strategy", parse_enum<TowerStrategy>(
                                  options.strategy.empty() ? "coherent" : options.strategy)));
  ORRERY_TRY(const std::string text, read_file(options.similarities));
  ORRERY_TRY(const CommaSeparated table, parse_comma_separated(text, options.similarities));
  ORRERY_TRY(const Similarities similarities, similarities_of(table));
  ORRERY_TRY(const ReportedTowers towers,
             reported_towers(*recommender, similarities, options.towers, strategy));
  return print(common.json ? to_json(towers_json(towers)) : towers_text(towers, text_style()));
}

}  // namespace

Result<int> tables_command(const TablesOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  if (!options.similarities.empty()) return towers_command(options, catalog, common);
  if (options.towers != 0) {
    return bad_input("features are divided into towers by their similarities", "--towers",
                     "--similarities FILE.csv; to place tables in towers: --plan towers=8");
  }
  if (!options.strategy.empty()) {
    return bad_input("features are divided into towers by their similarities", "--strategy",
                     "--similarities FILE.csv, or leave it out");
  }
  ORRERY_TRY(const Spec spec, ask(options.question, catalog));
  const Cluster& cluster = spec.scenario.cluster;
  ORRERY_TRY(const Recommender* recommender, with_tables(spec.scenario.model));
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
