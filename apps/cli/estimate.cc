// orrery estimate: one plan, predicted.
#include "estimate/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "estimate/sensitivity.h"
#include "estimate/step_chakra.h"
#include "estimate/step_timeline.h"
#include "outcome/parsed_number.h"
#include "parallel/parallel_for.h"
#include "plan_files.h"
#include "progress.h"
#include "question.h"
#include "report/drawing/pipeline_text.h"
#include "report/plans/plan_reports.h"
#include "search/default_step.h"
#include "trace/chakra/chakra_file.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

struct EstimateOptions {
  Question question;
  bool explain = false;
  bool sensitivity = false;  // what more of each resource would gain
  bool traffic = false;      // what each mesh axis sends over each level
  std::string network;       // "flows": communications as flows; empty: closed forms alone
  bool numerics = false;     // what the plan changes against bf16
  std::string by;            // "operator": shares of operators
  std::string chakra;        // a folder for one .et a rank
  std::string chakra_ranks;  // "0-7,16"; empty: all
  std::string graph;         // a file; empty: none
  FieldOptions run;          // --tokens and --price
};

// orrery estimate --chakra: the predicted step as Chakra traces.

// Nodes of all files together; about 100 bytes each on disk.
constexpr double kMostNodes = 1e8;
constexpr std::string_view kPrefix = "step";

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Result<std::vector<Range>> ranges(std::string_view text, std::int64_t ranks) {
  if (text.empty()) return std::vector<Range>{{0, ranks - 1}};
  std::vector<Range> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::string_view item = text.substr(at, std::min(text.find(',', at), text.size()) - at);
    const std::size_t dash = std::min(item.find('-'), item.size());
    const auto first = parsed_number<std::int64_t>(item.substr(0, dash));
    const auto last =
        dash == item.size() ? first : parsed_number<std::int64_t>(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) {
      return bad_input("'" + std::string(item) + "' is not a rank or range of ranks",
                       "--chakra-ranks", "write 0-7,16");
    }
    if (*last >= ranks) {
      return bad_input(fmt::format("there is no rank {} among {}", *last, ranks), "--chakra-ranks",
                       "ranks count from 0");
    }
    out.push_back({*first, *last});
    at += item.size() + 1;
  }
  return out;
}

// Writes step.RANK.et for each of `ranks` ("0-7,16"; empty: all) into `folder`, and beside them
// step.groups.json, the communicator file of all ranks; gives a line about them. Errors: `ranks` is
// no such list, a rank that does not exist, more nodes or ranks of groups than fit, a folder that
// cannot be written.
Result<std::string> write_step_chakra(StepChakra step, const std::string& folder,
                                      const std::string& ranks, const Common& common) {
  ORRERY_TRY(const std::vector<Range> chosen, ranges(ranks, step.ranks()));
  std::int64_t files = 0;
  for (const Range& r : chosen) files += r.last - r.first + 1;
  const double nodes = static_cast<double>(step.nodes_of_a_rank()) * static_cast<double>(files);
  if (nodes > kMostNodes) {
    return unsupported(std::to_string(files) + " ranks with " +
                           std::to_string(step.nodes_of_a_rank()) +
                           " operations each are more than fit",
                       "--chakra", "choose some: --chakra-ranks 0-7");
  }
  const Communicators& groups = step.communicators();
  ORRERY_TRY(const std::string text, communicator_text(groups, step.ranks()));
  ORRERY_RETURN_IF_ERROR(make_folder(folder));
  Progress progress(!common.quiet);
  std::int64_t done = 0;
  for (const Range& r : chosen) {
    for (std::int64_t rank = r.first; rank <= r.last; ++rank) {
      const std::string file = (std::filesystem::path(folder) /
                                (std::string(kPrefix) + "." + std::to_string(rank) + ".et"))
                                   .string();
      ORRERY_RETURN_IF_ERROR(write_chakra(file, step.trace(rank)));
      progress.show(static_cast<double>(++done) / static_cast<double>(files), "writing " + folder);
    }
  }
  ORRERY_RETURN_IF_ERROR(write_communicators(communicator_file(folder, kPrefix), text));
  return file_line("chakra", folder,
                   fmt::format(" ({} {}: step.RANK.et{})", files, files == 1 ? "rank" : "ranks",
                               groups.empty() ? "" : ", groups: step.groups.json"));
}

// The files that are asked for; gives a line about each. All of them show the one predicted step.
Result<std::string> write_files(const EstimateOptions& options, const Common& common,
                                const PredictedStep& step, const Estimate& figures,
                                const std::optional<HealthyRun>& run) {
  const bool draws_operations = options.question.expanded && !options.question.timeline.empty();
  std::optional<SimulatedStep> expanded;
  if (draws_operations || !options.chakra.empty() || !options.graph.empty()) {
    ORRERY_TRY(expanded, simulated(step.costs, Folding::expanded));
  }
  if (!options.chakra.empty() || !options.graph.empty()) {
    ORRERY_RETURN_IF_ERROR(check_alike(step.cluster(), "a file of every operation's group"));
  }
  ORRERY_TRY(std::string out,
             write_report_files(
                 options.question, step, draws_operations ? *expanded : step.folded, figures,
                 {.runs = run ? std::span(&*run, 1) : std::span<const HealthyRun>()}));
  const auto add = [&](const std::string& line) { out += (out.empty() ? "\n" : "") + line + "\n"; };
  if (!options.chakra.empty()) {
    ORRERY_TRY(const std::string line,
               write_step_chakra(StepChakra(step, *expanded), options.chakra, options.chakra_ranks,
                                 common));
    add(line);
  }
  if (!options.graph.empty()) {
    ORRERY_TRY(const std::string line,
               write_graph(options.graph, step_graph_file(std::move(*expanded))));
    add(file_line("graph", line));
  }
  return out;
}

// Stands before the figures of a plan that no accelerator can hold, with the search for one that it
// can; empty for the others.
std::string refusal_text(const Estimate& figures, const Question& q, bool plan_stated,
                         const TextStyle& style) {
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
  for (const std::string& setting : q.settings) search += " --set '" + setting + "'";
  return "  " +
         painted(fmt::format("{}: it needs {} and has {}.", style_of(figures.verdict).words,
                             gibibytes(figures.peak_memory), gibibytes(figures.memory_capacity)),
                 style_of(figures.verdict).ink, style) +
         (plan_stated ? " Degrees that the plan does not state are 1, apart from dp." : "") +
         (q.model == "-" ? "" : " To look for plans that fit: " + search) + "\n\n";
}

Result<int> estimate_plan(const EstimateOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.question, catalog));
  std::optional<Progress> progress(std::in_place, !common.quiet);
  ORRERY_TRY(const auto step, default_step(spec, catalog, common.threads,
                                           [&](double share, const std::string& best) {
                                             if (Progress::interrupted()) end_by_signal(SIGINT);
                                             progress->show(share, best);
                                           }));
  progress.reset();
  if (!options.question.emit.empty()) return emit(options.question.emit, step, catalog, common);
  ORRERY_TRY(const auto errors, load_uncertainty(catalog));
  const Estimate figures = estimate(step, errors);

  const Subject subject = subject_of(spec.scenario);
  EstimateExtras extras;
  if (options.sensitivity) {
    ORRERY_TRY(extras.sensitivity, sensitivities(step, catalog));
  }
  if (options.traffic) {
    ORRERY_TRY(extras.traffic, traffic(step));
  }
  if (options.network == "flows") {
    ORRERY_TRY(extras.flows, at("--network flows", step_flows(step)));
  }
  if (options.numerics) {
    ORRERY_TRY(extras.numerics, plan_numerics(step, catalog, threads_to_use(common.threads)));
  }
  if (!options.by.empty()) extras.operators = operator_shares(step);
  ORRERY_TRY(extras.run, run_of(options.run, spec, figures, catalog));
  ORRERY_TRY(const auto written, write_files(options, common, step, figures, extras.run));
  const bool fits = figures.verdict != Verdict::does_not_fit;
  if (common.json) {
    if (options.explain) extras.explained = explain(step, figures);
    return answered(to_json(estimate_json(figures, subject, extras)), fits);
  }
  const TextStyle style = text_style();
  std::string text = refusal_text(figures, options.question, !spec.stated.empty(), style) +
                     estimate_text(figures, subject, style);
  if (extras.run) {
    text +=
        heading("The whole run", "", style) + paragraph(style, healthy_run_sentence(*extras.run));
  }
  if (step.plan().pp > 1 && !common.quiet) {
    text += "\n" + pipeline_text(pipeline_spans(step), style);
  }
  if (extras.operators) text += operators_text(*extras.operators, style);
  if (extras.sensitivity) text += sensitivity_text(*extras.sensitivity, style);
  if (extras.traffic) text += traffic_text(*extras.traffic, subject.accelerator, style);
  if (extras.flows) text += flows_text(*extras.flows, style);
  if (extras.numerics) text += numerics_text(*extras.numerics, style);
  if (options.explain) text += "\n" + derivations_text(explain(step, figures), style);
  return answered(text + written, fits);
}

}  // namespace

Command estimate_command(CLI::App& orrery) {
  auto [app, o] = subcommand<EstimateOptions>(orrery, "estimate", "predict one training step");
  add_question(app, o->question);
  add_emit(app, o->question);
  app->add_flag("--explain", o->explain, "show the derivation of every figure");
  app->add_flag("--sensitivity", o->sensitivity, "what 10 % more of each resource would gain");
  app->add_flag("--traffic", o->traffic,
                "how much each mesh axis sends over each level of the network");
  app->add_option("--network", o->network,
                  "closed-form (the default), or flows: also simulate communications as flows")
      ->check(CLI::IsMember({"closed-form", "flows"}));
  app->add_flag("--numerics", o->numerics, kNumericsHelp);
  CLI::Option* chakra = app->add_option(
      "--chakra", o->chakra, "write the step as Chakra traces into this folder, one .et a rank");
  app->add_option("--chakra-ranks", o->chakra_ranks, "of which ranks: 0-7,16 (default: all)")
      ->needs(chakra);
  app->add_option("--graph", o->graph, "write the step's graph, *.graph.json or *.graph.json.gz");
  app->add_option("--by", o->by, "operator: the time of each operator")
      ->check(CLI::IsMember({"operator"}));
  add_healthy_run(app, o->run);
  show_under(app, "Additional output",
             {"--explain", "--sensitivity", "--traffic", "--network", "--numerics", "--by",
              "--tokens", "--price"});
  show_under(app, "Files", {"--emit", "--chakra", "--chakra-ranks", "--graph"});
  app->footer(
      "Example:\n  orrery estimate llama-3.1-405b --on h100-sxm:16384 --seq 8192 "
      "--global-batch 2048 --plan tp=8,pp=16,chunks=8");

  return command(app, o, estimate_plan);
}

}  // namespace orrery::cli
