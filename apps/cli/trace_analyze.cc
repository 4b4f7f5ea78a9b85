// orrery trace analyze: where the time of a recorded run went.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analyze/findings.h"
#include "analyze/run_analysis.h"
#include "document/value.h"
#include "parallel/parallel_for.h"
#include "replay/chakra_graph.h"
#include "replay/graph_from_run.h"
#include "replay/graph_path.h"
#include "replay/step_path.h"
#include "replay/time_slices.h"
#include "report/traces/analysis_report.h"
#include "trace.h"
#include "trace_files.h"
#include "whatif/edit_language.h"
#include "whatif/whatif.h"

namespace orrery::cli {
namespace {

struct AnalyzeOptions {
  TraceFiles files;
  std::string preset = "orrery";
  std::string group = "shapes";
  std::string accelerator;
  std::string critical;
  std::size_t instance = 0;
  std::int64_t rank = kNotRecorded;
  std::size_t rows = 12;
  std::string html;
  bool more = false;
};

Result<std::size_t> place_of(const RecordedRun& run, std::int64_t rank) {
  if (rank == kNotRecorded) return 0;
  std::string given;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    if (run.ranks[i].rank == rank) return i;
    given += (i == 0 ? "" : ", ") + std::to_string(run.ranks[i].rank);
  }
  return fail(ErrorCode::not_found, "rank " + std::to_string(rank) + " was not given", "--rank",
              "there are: " + given);
}

AnalysisOptions analysis_options(const AnalyzeOptions& options, const Common& common) {
  AnalysisOptions out;
  if (options.preset == "hta") out.preset = BreakdownPreset::hta;
  if (options.preset == "tracelens") out.preset = BreakdownPreset::tracelens;
  if (options.group == "name") out.grouping = OperatorGrouping::name;
  if (options.group == "arguments") out.grouping = OperatorGrouping::arguments;
  out.accelerator = options.accelerator;
  out.critical_annotation = options.critical;
  out.critical_instance = options.instance;
  out.threads = threads_to_use(common.threads);
  return out;
}

// By the graph of the run, which is made if it is not given; without --preset hta, whose own
// construction analyze() has.
Result<std::vector<StepPath>> paths_of(const SeenRun& seen, const RunGraph* graph,
                                       const AnalysisOptions& options, const TraceFiles& files) {
  if (options.preset == BreakdownPreset::hta) return std::vector<StepPath>();
  const RecordedRun& run = seen.run;
  if (const auto* file = std::get_if<GraphFile>(&seen.made_of)) return step_paths(*file, run);
  if (const auto* traces = std::get_if<ChakraRun>(&seen.made_of)) {
    const auto made = chakra_graph(*traces, chakra_options(files));
    // Start times alone make a recording, but no graph where a communication has no duration.
    return made ? step_paths(*traces, *made, run) : std::vector<StepPath>();
  }
  if (options.critical_annotation.empty()) {
    // Nothing that could be replayed is no reason to withhold the rest.
    return graph != nullptr ? step_paths(run.ranks, *graph) : std::vector<StepPath>();
  }
  std::vector<std::uint32_t> events;
  for (const RecordedTrace& trace : run.ranks) {
    ORRERY_TRY(const std::uint32_t event,
               annotated_event(trace, options.critical_annotation, options.critical_instance));
    events.push_back(event);
  }
  return step_paths(run.ranks, events);
}

// Of every rank, when another process had its device; what is simulated has none beside it.
std::vector<Intervals> other_process_of(const RecordedRun& run, int threads) {
  std::vector<Intervals> turns(run.ranks.size());
  if (!has_calls(run.source)) return turns;
  parallel_for(run.ranks.size(), threads,
               [&](std::size_t i) { turns[i] = other_process_turns(run.ranks[i]); });
  return turns;
}

// What the remedy of exposed communication gains, by the what-if that its finding names; not known
// of what cannot be replayed.
std::optional<FasterNetwork> faster_network(const RecordedRun& run, const RunGraph& graph,
                                            const Catalog& catalog) {
  const auto edits = parse_edits("bandwidth by 2", "--bandwidth");
  if (!edits) return std::nullopt;
  const auto answer = what_if(run.ranks, graph, *edits, catalog);
  if (!answer || answer->before <= Seconds(0)) return std::nullopt;
  return FasterNetwork{answer->before, answer->after};
}

Result<int> analyze_files(const AnalyzeOptions& options, const Common& common) {
  if (options.instance > 0 && options.critical.empty()) {
    return bad_input("--instance is of an annotation, and none is named", "",
                     "--critical-path NAME --instance N");
  }
  ORRERY_TRY(const auto catalog, open_catalog(common));
  TraceFiles files = options.files;
  files.modules_only = true;  // nothing of the report is about other functions of Python
  ORRERY_TRY(const auto sources, trace_sources(files.files));
  ORRERY_RETURN_IF_ERROR(check_scopes(files, {sources}, ChakraUse::as_recording));
  ORRERY_TRY(const auto seen, read_seen_as_recorded(files, Ranks::any, common));
  const RecordedRun* run = &seen.run;
  ORRERY_TRY(const auto place, place_of(*run, options.rank));
  AnalysisOptions asked = analysis_options(options, common);
  if (!options.critical.empty() && !has_calls(run->source) &&
      asked.preset != BreakdownPreset::hta) {
    return unsupported("the path of one annotation is known of a profiler's traces only",
                       "--critical-path", "without it the path of the whole step is shown");
  }
  asked.other_process = other_process_of(*run, asked.threads);
  ORRERY_TRY(auto analysis, analyze(*run, catalog, asked));
  const bool exposed = std::ranges::any_of(
      findings(analysis), [](const Finding& f) { return f.kind == FindingKind::communication; });
  Result<GraphFromRun> made = unsupported("");
  if (has_calls(run->source) && (exposed || asked.preset != BreakdownPreset::hta)) {
    made = graph_from_run(run->ranks);
  }
  ORRERY_TRY(const auto paths, paths_of(seen, made ? &made->graph : nullptr, asked, files));
  if (exposed && made) analysis.faster_network = faster_network(*run, made->graph, catalog);
  const AnalysisView view = {.rank = place,
                             .rows = options.rows,
                             .more = options.more ? MoreTables::all : MoreTables::none,
                             .paths = paths};
  if (!options.html.empty()) {
    AnalysisView longer = view;
    longer.rows = std::max<std::size_t>(view.rows, 25);
    ORRERY_RETURN_IF_ERROR(write_file(options.html, analysis_html(*run, analysis, longer)));
  }
  if (common.json) return print(to_json(analysis_json(*run, analysis, paths)));
  std::string text = analysis_text(*run, analysis, view, text_style());
  if (!options.html.empty()) text += "\n  Report with charts: " + options.html + "\n";
  return print(text);
}

}  // namespace

TraceSubcommand trace_analyze(CLI::App& trace) {
  CLI::App* app = trace.add_subcommand("analyze", "where the time of a recorded run went");
  auto options = std::make_shared<AnalyzeOptions>();
  add_trace_files(app, options->files);
  app->add_option("--preset", options->preset,
                  "whose definitions of busy and idle: orrery, hta, tracelens")
      ->check(CLI::IsMember({"orrery", "hta", "tracelens"}));
  app->add_option("--group", options->group,
                  "operators by name, by shapes as well, or by all arguments")
      ->check(CLI::IsMember({"name", "shapes", "arguments"}));
  app->add_option("--rank", options->rank, "whose tables are shown (default: the first given)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}));
  app->add_option("--rows", options->rows, "of every table")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}));
  app->add_flag("--more", options->more,
                "further tables: kernels over all ranks, work together, sections and modules, "
                "sequences of kernels, gaps of streams, launches that stand out");
  app->add_option("--accelerator", options->accelerator,
                  "of the catalog, for rooflines (default: by the recorded device)");
  app->add_option("--critical-path", options->critical,
                  "of the annotation whose name contains this (default: the first step)");
  app->add_option("--instance", options->instance, "of that annotation, from 0");
  app->add_option("--html", options->html, "write a report with charts to this file");
  app->footer(
      "Example:\n  orrery trace analyze "
      "validation/traces/megatron-lm-fork/tp2/kineto_rank0.json.gz "
      "validation/traces/megatron-lm-fork/tp2/kineto_rank1.json.gz");
  return TraceSubcommand{
      app, [options](const Common& common) { return analyze_files(*options, common); }};
}

}  // namespace orrery::cli
