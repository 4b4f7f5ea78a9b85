// orrery estimate: one plan, predicted.
#include "estimate/estimate.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "estimate/step_timeline.h"
#include "estimate_chakra.h"
#include "graph_files.h"
#include "question.h"
#include "report/drawing/pipeline_text.h"
#include "report/plans/estimate_text.h"
#include "report/plans/plans_json.h"
#include "report_files.h"

namespace orrery::cli {
namespace {

// The files that are asked for; gives a line about each. All of them show the one predicted step.
Result<std::vector<std::string>> write_files(const EstimateOptions& options, const Common& common,
                                             const PredictedStep& step, const Estimate& figures) {
  const bool draws_operations = options.question.expanded && !options.question.timeline.empty();
  std::optional<SimulatedStep> expanded;
  if (draws_operations || !options.chakra.empty() || !options.graph.empty()) {
    ORRERY_TRY(expanded, simulated(step.costs, Folding::expanded));
  }
  ORRERY_TRY(std::vector<std::string> out,
             write_report_files(options.question, step, draws_operations ? *expanded : step.folded,
                                figures, nullptr, Seconds(0)));
  if (!options.chakra.empty()) {
    ORRERY_TRY(std::string line, write_step_chakra(StepChakra(step, *expanded), options.chakra,
                                                   options.chakra_ranks, common));
    out.push_back(std::move(line));
  }
  if (!options.graph.empty()) {
    ORRERY_TRY(const std::string line,
               write_graph(options.graph, step_graph_file(std::move(*expanded))));
    out.push_back("graph     " + line);
  }
  return out;
}

// Stands before the figures of a plan that no accelerator can hold, with the search for one that it
// can; empty for the others.
std::string refusal_text(const Estimate& figures, const Question& q, const TextStyle& style) {
  if (figures.verdict != Verdict::does_not_fit) return "";
  const std::string rank = q.adapter_rank == 0 ? "" : std::to_string(q.adapter_rank);
  std::string search = "orrery search " + q.model;
  for (const auto& [option, value] : {std::pair{" --on ", &q.cluster},
                                      {" --seq ", &q.sequence_length},
                                      {" --global-batch ", &q.global_batch},
                                      {" --workload ", &q.workload},
                                      {" --adapter-rank ", &rank},
                                      {" --adapted-products ", &q.adapt},
                                      {" --precision ", &q.precision},
                                      {" --software ", &q.software}}) {
    if (!value->empty()) search += option + *value;
  }
  return "  " +
         painted(fmt::format("{}: it needs {} and has {}.", style_of(figures.verdict).words,
                             gibibytes(figures.peak_memory), gibibytes(figures.memory_capacity)),
                 style_of(figures.verdict).ink, style) +
         (q.model == "-" ? "" : " Plans that fit: " + search) + "\n\n";
}

}  // namespace

Result<int> estimate_command(const EstimateOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.question, catalog));
  ORRERY_TRY(const auto step, predicted(spec, catalog, common.threads));
  ORRERY_TRY(const auto errors, load_uncertainty(catalog));
  const Estimate figures = estimate(step, errors);

  const Subject subject = subject_of(spec.scenario);
  ORRERY_TRY(const auto written, write_files(options, common, step, figures));
  const auto answered = [&](const std::string& answer) {
    const int printed = print(answer);
    return printed == ExitCode::done && figures.verdict == Verdict::does_not_fit
               ? static_cast<int>(ExitCode::negative)
               : printed;
  };
  if (common.json) {
    std::optional<std::vector<Derivation>> explained;
    if (options.explain) explained = explain(step, figures);
    return answered(to_json(estimate_json(figures, subject, explained)));
  }
  const TextStyle style = text_style();
  std::string text =
      refusal_text(figures, options.question, style) + estimate_text(figures, subject, style);
  if (step.plan().pp > 1 && !common.quiet) {
    text += "\n" + pipeline_text(pipeline_spans(step), style);
  }
  if (options.explain) text += "\n" + derivations_text(explain(step, figures), style);
  for (const std::string& line : written) text += "\n" + line;
  if (!written.empty()) text += "\n";
  return answered(text);
}

}  // namespace orrery::cli
