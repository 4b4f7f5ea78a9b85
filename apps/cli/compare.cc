// orrery compare: every combination of models, clusters, plans and batches, side by side.

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "document/value_list.h"
#include "estimate/estimate.h"
#include "heap.h"
#include "parallel/parallel_for.h"
#include "progress.h"
#include "question.h"
#include "report/plans/plan_comparison.h"
#include "search/default_step.h"

namespace orrery::cli {
namespace {

// Every list is an axis: each of its texts is a list of values and ranges (document/value_list.h).
struct CompareOptions {
  std::vector<std::string> models;
  std::vector<std::string> clusters;
  std::vector<std::string> plans;
  std::vector<std::string> sequence_lengths;
  std::vector<std::string> global_batches;
  std::vector<std::string> workloads;
  std::vector<std::string> precisions;
  std::vector<std::string> software;
  std::vector<std::string> settings;  // each an axis of its own
  FieldOptions run;                   // --tokens and --price
  std::string csv;
  std::string html;
};

// The values that one option may have, and where they go.
struct ComparedAxis {
  std::string name;
  std::vector<std::string> values;
  std::string Question::* field;  // nullptr: one of the settings
};

Result<std::vector<ComparedAxis>> axes_of(const CompareOptions& o) {
  struct Stated {
    const char* name;
    const std::vector<std::string>& texts;
    std::string Question::* field;
  };
  std::vector<ComparedAxis> out;
  for (const auto& [name, texts, field] :
       {Stated{"model", o.models, &Question::model}, Stated{"on", o.clusters, &Question::cluster},
        Stated{"plan", o.plans, &Question::plan},
        Stated{"seq", o.sequence_lengths, &Question::sequence_length},
        Stated{"global-batch", o.global_batches, &Question::global_batch},
        Stated{"workload", o.workloads, &Question::workload},
        Stated{"precision", o.precisions, &Question::precision},
        Stated{"software", o.software, &Question::software}}) {
    ComparedAxis axis{name, {}, field};
    const std::string where = field == &Question::model ? name : std::string("--") + name;
    for (const std::string& text : texts) {
      auto values = field == &Question::plan ? setting_lists(text) : value_list(text);
      if (!values) return fail(at(where, values.error()));
      std::ranges::move(*values, std::back_inserter(axis.values));
    }
    if (!axis.values.empty()) out.push_back(std::move(axis));
  }
  if (std::ranges::find(out.front().values, "-") != out.front().values.end()) {
    return bad_input("standard input can be read only once", "model", "write it to a file first");
  }
  for (const std::string& setting : o.settings) {
    const std::size_t equals = std::min(setting.find('='), setting.size());
    auto values =
        value_list(std::string_view(setting).substr(std::min(equals + 1, setting.size())));
    if (!values) return fail(at("--set", values.error()));
    for (std::string& value : *values) value.insert(0, setting.substr(0, equals + 1));
    out.push_back({"set", std::move(*values), nullptr});
  }
  return out;
}

// The question of a cell; the last axis varies fastest.
Question question_of(std::span<const ComparedAxis> axes, std::size_t index, ComparedCell& cell) {
  cell.values.resize(axes.size());
  Question out;
  for (std::size_t a = axes.size(); a-- > 0;) {
    const std::vector<std::string>& values = axes[a].values;
    cell.values[a] = values[index % values.size()];
    index /= values.size();
    if (axes[a].field != nullptr) out.*axes[a].field = cell.values[a];
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].field == nullptr) out.settings.push_back(cell.values[a]);
  }
  return out;
}

Result<void> predict_cell(const Question& question, const CompareOptions& options,
                          const Catalog& catalog, const Uncertainty& errors, ComparedCell& cell) {
  ORRERY_TRY(const Spec spec, ask(question, catalog));
  ORRERY_TRY(const PredictedStep step, default_step(spec, catalog, 1));
  Estimate figures = estimate(step, errors);
  figures.stages = {};  // of thousands of cells they would fill the memory
  ORRERY_TRY(cell.run, run_of(options.run, spec, figures, catalog));
  cell.estimate = std::move(figures);
  return {};
}

Result<int> compare_all(const CompareOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto axes, axes_of(options));
  ORRERY_TRY(const Uncertainty errors, load_uncertainty(catalog));
  if (options.run["tokens"].empty() && !options.run["price"].empty()) {
    return bad_input("needs the length of the run", "--price", "write --tokens 15T");
  }
  std::vector<ComparisonAxis> compared;
  compared.reserve(axes.size());
  for (const ComparedAxis& axis : axes) compared.push_back({axis.name, axis.values.size()});
  keep_freed_memory();
  std::optional<Progress> progress(std::in_place, !common.quiet);
  ORRERY_TRY(const PlanComparison out,
             compare_plans(
                 std::move(compared), threads_to_use(common.threads),
                 [&](std::size_t i, ComparedCell& cell) -> Result<void> {
                   const Question question = question_of(axes, i, cell);
                   if (Progress::interrupted()) return bad_input("interrupted");
                   return predict_cell(question, options, catalog, errors, cell);
                 },
                 [&](double share) { progress->show(share, "predicting"); }));
  progress.reset();
  std::string written;
  if (!options.html.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(options.html, plan_comparison_html(out)));
    written += "\nreport    " + options.html;
  }
  if (!options.csv.empty() && options.csv != "-") {
    ORRERY_RETURN_IF_ERROR(write_file(options.csv, plan_comparison_csv(out)));
    written += "\ncells     " + options.csv;
  }
  if (!written.empty()) written += "\n";
  return answered(common.json          ? to_json(plan_comparison_json(out))
                  : options.csv == "-" ? plan_comparison_csv(out)
                                       : plan_comparison_text(out, text_style()) + written,
                  std::ranges::any_of(out.cells, fits));
}

}  // namespace

Command compare_command(CLI::App& orrery) {
  CLI::App* app = orrery.add_subcommand(
      "compare", "models, clusters, plans and batches side by side: every combination");
  auto o = std::make_shared<CompareOptions>();
  app->add_option("models", o->models, "as for estimate, one or more")->required();
  struct Axis {
    const char* option;
    std::vector<std::string>& values;
    const char* sentence;
  };
  for (const auto& [option, values, sentence] :
       {Axis{"--on", o->clusters, "clusters: h100-sxm:64,b200-sxm:64, or h100-sxm:64..512*2"},
        Axis{"--plan", o->plans, "a plan, given once for each; tp=1..8*2,pp=2 is four"},
        Axis{"--seq", o->sequence_lengths, "tokens of a sequence: 4k,8k"},
        Axis{"--global-batch", o->global_batches, "sequences of a step, or tokens: 128..1024*2"},
        Axis{"--workload", o->workloads, "training,forward"},
        Axis{"--precision", o->precisions, "of matrix products: bf16,fp8"},
        Axis{"--software", o->software, "training frameworks, of orrery catalog software"},
        Axis{"--set", o->settings, "change one setting: network=1x..4x*2"}}) {
    app->add_option(option, values, sentence)->allow_extra_args(false);
  }
  add_healthy_run(app, o->run);
  app->add_option("--csv", o->csv, "write the cells as CSV to this file; -: in place of the table");
  app->add_option("--html", o->html, "write the comparison as a page to this file");
  app->footer(
      "Every option takes a list and ranges; every combination is predicted.\n"
      "Example:\n  orrery compare llama-3.1-8b --on h100-sxm:64,b200-sxm:64 --seq 8k "
      "--global-batch 128..512*2 --plan tp=1 --plan tp=2 --tokens 15T");
  return command(app, o, compare_all);
}

}  // namespace orrery::cli
