// orrery trace analyze: where the time of a recorded run went.
#include <algorithm>
#include <string>
#include <vector>

#include "analyze/run_analysis.h"
#include "document/value.h"
#include "parallel/parallel_for.h"
#include "report/traces/trace_reports.h"
#include "trace_files.h"
#include "whatif/analyzed_run.h"

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
  ORRERY_TRY(const auto seen, read_seen_as_recorded(files, common));
  const RecordedRun* run = &seen.run;
  ORRERY_TRY(const auto place, place_of(*run, options.rank));
  ORRERY_TRY(const auto analyzed,
             analyzed_run(seen, analysis_options(options, common), incomplete(files), catalog));
  const RunAnalysis& analysis = analyzed.analysis;
  const std::vector<StepPath>& paths = analyzed.paths;
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

Command trace_analyze(CLI::App& trace) {
  auto [app, options] =
      subcommand<AnalyzeOptions>(trace, "analyze", "where the time of a recorded run went");
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
  return command(app, options, analyze_files);
}

}  // namespace orrery::cli
