// orrery compare: every combination of models, clusters, plans and batches, side by side.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/accelerator_noun.h"
#include "command.h"
#include "document/value_list.h"
#include "estimate/estimate.h"
#include "parallel/parallel_for.h"
#include "progress.h"
#include "question.h"
#include "report/plans/plan_comparison.h"
#include "search/default_step.h"

namespace orrery::cli {
namespace {

// What may be compared: an option and the field of the question that it gives; null: one of the
// settings.
struct AxisOption {
  const char* name;
  std::string Question::* field;
  const char* sentence;
};
constexpr std::array kAxes = {
    AxisOption{"models", &Question::model, "as for estimate, one or more"},
    AxisOption{"--on", &Question::cluster,
               "clusters: h100-sxm:64,b200-sxm:64, or h100-sxm:64..512*2"},
    AxisOption{"--plan", &Question::plan, "a plan, given once for each; tp=1..8*2,pp=2 is four"},
    AxisOption{"--seq", &Question::sequence_length, "tokens of a sequence: 4k,8k"},
    AxisOption{"--global-batch", &Question::global_batch,
               "sequences of a step, or tokens: 128..1024*2"},
    AxisOption{"--workload", &Question::workload, "training,forward"},
    AxisOption{"--precision", &Question::precision, "of matrix products: bf16,fp8"},
    AxisOption{"--software", &Question::software,
               "training frameworks, of orrery catalog software"},
    AxisOption{"--set", nullptr, "change one setting: network=1x..4x*2"}};

// Every list is an axis: each of its texts is a list of values and ranges (document/value_list.h).
struct CompareOptions {
  std::array<std::vector<std::string>, kAxes.size()> axes;  // of --set every text is one of its own
  FieldOptions run;                                         // --tokens and --price
  std::string csv;
  std::string html;
};

// The values that one option may have, and where they go.
struct ComparedAxis {
  std::string name;
  std::vector<std::string> values;
  std::string Question::* field;
};

Result<std::vector<ComparedAxis>> axes_of(const CompareOptions& o) {
  std::vector<ComparedAxis> out;
  for (std::size_t a = 0; a + 1 < kAxes.size(); ++a) {
    const auto& [option, field, sentence] = kAxes[a];
    const bool model = field == &Question::model;
    ComparedAxis axis{model ? "model" : option + 2, {}, field};
    for (const std::string& text : o.axes[a]) {
      auto values = field == &Question::plan ? setting_lists(text) : value_list(text);
      if (!values) return fail(at(model ? "model" : option, values.error()));
      std::ranges::move(*values, std::back_inserter(axis.values));
    }
    if (!axis.values.empty()) out.push_back(std::move(axis));
  }
  if (std::ranges::find(out.front().values, "-") != out.front().values.end()) {
    return bad_input("standard input can be read only once", "model", "write it to a file first");
  }
  for (const std::string& setting : o.axes.back()) {
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
  cell.accelerator = accelerator_noun(step.cluster());
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
  const bool prints_cells = options.csv == "-";
  ORRERY_TRY(const std::string files,
             write_all({{"report", options.html, [&] { return plan_comparison_html(out); }},
                        {"cells", prints_cells ? "" : options.csv,
                         [&] { return plan_comparison_csv(out); }}}));
  return answered(common.json    ? to_json(plan_comparison_json(out))
                  : prints_cells ? plan_comparison_csv(out)
                                 : plan_comparison_text(out, text_style()) + files,
                  std::ranges::any_of(out.cells, fits));
}

}  // namespace

Command compare_command(CLI::App& orrery) {
  auto [app, o] = subcommand<CompareOptions>(
      orrery, "compare", "models, clusters, plans and batches side by side: every combination");
  for (std::size_t a = 0; a < kAxes.size(); ++a) {
    const auto& [option, field, sentence] = kAxes[a];
    CLI::Option* added = app->add_option(option, o->axes[a], sentence);
    if (field == &Question::model) {
      added->required();
    } else {
      added->allow_extra_args(false);
    }
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
