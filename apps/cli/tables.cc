// orrery tables: where the planner puts the embedding tables of a recommendation model, and why;
// and which of them share a tower.

#include "document/comma_separated.h"
#include "document/value.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "model/division.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/table_placement.h"
#include "question.h"
#include "report/plans/table_placement_report.h"

namespace orrery::cli {

namespace {

// Where embedding tables lie.
struct TablesOptions {
  const CLI::App* app = nullptr;
  Question question;
  std::string similarities;  // of features, a CSV file; empty: none
  std::int64_t towers = 0;
  std::string strategy;  // empty: coherent
};

Result<const Recommender*> with_tables(const Model& model) {
  const Recommender* recommender = recommender_of(model);
  if (recommender != nullptr) return recommender;
  return bad_input(model.name + " has no embedding tables to place", "model",
                   "a recommendation model, as those of orrery catalog recommendation");
}

Result<int> towers_command(const TablesOptions& options, const Catalog& catalog,
                           const Common& common) {
  const Question& q = options.question;
  ORRERY_RETURN_IF_ERROR(
      refuse_given(*options.app, {"--on", "--plan", "--workload", "--global-batch", "--precision"},
                   "the division of features into towers does not depend on it",
                   "leave it out beside --similarities"));
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

Result<int> show_placement(const TablesOptions& options, const Common& common) {
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
  const Division divided = step.division();
  const ReportedPlacement placement = reported_placement(
      *recommender, divided, cluster.accelerators_per_node, place_tables(*recommender, divided),
      cluster.name, estimate(step).stages.front().memory, cluster.accelerator.memory.capacity);
  return answered(
      common.json ? to_json(placement_json(placement)) : placement_text(placement, text_style()),
      placement.fits);
}

}  // namespace

Command tables_command(CLI::App& orrery) {
  auto [app, o] = subcommand<TablesOptions>(
      orrery, "tables", "where the embedding tables of a recommendation model lie, and why");
  o->app = app;
  Question& q = o->question;
  app->add_option("model", q.model, "a recommendation model: a catalog name, or a file in YAML")
      ->required();
  app->add_option("--on", q.cluster, "the cluster: h100-sxm:64, or as for estimate");
  app->add_option("--plan", q.plan, "the plan: ep=8,tp=2,...");
  app->add_option("--workload", q.workload, "what is run: training, forward (evaluation)");
  app->add_option("--global-batch", q.global_batch, "samples of a step: 65536");
  app->add_option("--precision", q.precision, "of what is exchanged: bf16, fp16, tf32, fp32");
  app->add_option("--similarities", o->similarities,
                  "divide the features into towers by these: a CSV file whose header names them, "
                  "with a row of cosines for each; at most 1,000 features");
  app->add_option("--towers", o->towers, "with --similarities: how many");
  app->add_option(
      "--strategy", o->strategy,
      "with --similarities: coherent (default: features that are alike share a tower) or diverse");
  app->footer(
      "Examples:\n"
      "  orrery tables dlrm-dcnv2-mlperf --on h100-sxm:8 --global-batch 55296\n"
      "  orrery tables dlrm-dcnv2-mlperf --similarities cosines.csv --towers 8");
  return command(app, o, show_placement);
}

}  // namespace orrery::cli
