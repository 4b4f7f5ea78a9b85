// orrery compare: every combination of models, clusters, plans and batches, side by side.
#include "compare.h"

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
  ORRERY_TRY(cell.run, run_of(options.tokens, options.price, spec, figures, catalog));
  cell.estimate = std::move(figures);
  return {};
}

}  // namespace

Result<int> compare_command(const CompareOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto axes, axes_of(options));
  ORRERY_TRY(const Uncertainty errors, load_uncertainty(catalog));
  if (options.tokens.empty() && !options.price.empty()) {
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
  const int printed =
      print(common.json          ? to_json(plan_comparison_json(out))
            : options.csv == "-" ? plan_comparison_csv(out)
                                 : plan_comparison_text(out, text_style()) + written);
  if (printed != ExitCode::done) return printed;
  return std::ranges::any_of(out.cells, fits) ? ExitCode::done : ExitCode::negative;
}

void add_healthy_run(CLI::App* app, std::string& tokens, std::string& price) {
  app->add_option("--tokens", tokens,
                  "of a run, 15T, 300B: its days, GPU-hours, dollars and energy if nothing fails");
  app->add_option("--price", price, "of orrery catalog prices, or 2.95$/h (default: the median)");
}

void add_compare(CLI::App* app, CompareOptions& c) {
  app->add_option("models", c.models, "as for estimate, one or more")->required();
  struct Axis {
    const char* option;
    std::vector<std::string>& values;
    const char* sentence;
  };
  for (const auto& [option, values, sentence] :
       {Axis{"--on", c.clusters, "clusters: h100-sxm:64,b200-sxm:64, or h100-sxm:64..512*2"},
        Axis{"--plan", c.plans, "a plan, given once for each; tp=1..8*2,pp=2 is four"},
        Axis{"--seq", c.sequence_lengths, "tokens of a sequence: 4k,8k"},
        Axis{"--global-batch", c.global_batches, "sequences of a step, or tokens: 128..1024*2"},
        Axis{"--workload", c.workloads, "training,forward"},
        Axis{"--precision", c.precisions, "of matrix products: bf16,fp8"},
        Axis{"--software", c.software, "training frameworks, of orrery catalog software"},
        Axis{"--set", c.settings, "change one setting: network=1x..4x*2"}}) {
    app->add_option(option, values, sentence)->allow_extra_args(false);
  }
  add_healthy_run(app, c.tokens, c.price);
  app->add_option("--csv", c.csv, "write the cells as CSV to this file; -: in place of the table");
  app->add_option("--html", c.html, "write the comparison as a page to this file");
  app->footer(
      "Every option takes a list and ranges; every combination is predicted.\n"
      "Example:\n  orrery compare llama-3.1-8b --on h100-sxm:64,b200-sxm:64 --seq 8k "
      "--global-batch 128..512*2 --plan tp=1 --plan tp=2 --tokens 15T");
}

}  // namespace orrery::cli
