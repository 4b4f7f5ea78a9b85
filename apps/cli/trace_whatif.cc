// orrery trace whatif: a recorded run, edited and simulated again.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "document/value.h"
#include "infer/recorded_division.h"
#include "replay/graph_from_run.h"
#include "replay/graph_run.h"
#include "replay/operation_replay.h"
#include "report/traces/trace_reports.h"
#include "trace/graph_file/graph_file.h"
#include "trace/perfetto/recorded_json.h"
#include "trace/recorded_run.h"
#include "trace_files.h"
#include "whatif/edit_language.h"
#include "whatif/edit_verb.h"
#include "whatif/edited_recording.h"

namespace orrery::cli {
namespace {

constexpr std::size_t kLargestEdits = 1u << 20;

struct WhatIfOptions {
  TraceFiles files;
  std::vector<std::string> edits;
  std::string edit_file;
  bool capture = false;
  bool no_stragglers = false;
  bool attribute = false;
  double bandwidth = 0;
  std::int64_t dp = 0;
  std::int64_t tp = 0;
  std::int64_t pp = 0;
  std::string schedule;
  std::int64_t chunks = 0;
  std::int64_t microbatches = 0;
  std::string accelerator;
  std::string timeline;
  std::string html;
};

// The file's edits, then those of the line, then the flags.
Result<std::vector<Edit>> all_edits(const WhatIfOptions& options) {
  std::vector<Edit> out;
  const auto add = [&](const std::string& text, const std::string& name) -> Result<void> {
    ORRERY_TRY(std::vector<Edit> edits, parse_edits(text, name));
    for (Edit& edit : edits) out.push_back(std::move(edit));
    return {};
  };
  if (!options.edit_file.empty()) {
    ORRERY_TRY(const std::string text, read_file(options.edit_file, kLargestEdits));
    ORRERY_RETURN_IF_ERROR(add(text, options.edit_file));
  }
  std::string flags;
  for (const std::string& edit : options.edits) {
    if (edit.find_first_not_of(" \t") == std::string::npos) {
      return bad_input("an empty edit changes nothing", "--edit",
                       "write one such as \"scale class matrix_product by 50%\"");
    }
    flags += edit + "\n";
  }
  ORRERY_RETURN_IF_ERROR(add(flags, "--edit"));
  flags.clear();
  if (options.no_stragglers) flags += "even\n";
  if (options.capture) flags += "capture\n";
  if (options.bandwidth > 0) flags += fmt::format("bandwidth by {}\n", options.bandwidth);
  if (options.dp > 0) flags += fmt::format("dp {}\n", options.dp);
  if (options.tp > 0) flags += fmt::format("tp {}\n", options.tp);
  if (!options.accelerator.empty()) flags += "accelerator \"" + options.accelerator + "\"\n";
  if (options.pp == 0 && (!options.schedule.empty() || options.chunks > 0)) {
    return bad_input("has no meaning without --pp",
                     options.schedule.empty() ? "--chunks" : "--schedule",
                     "give the number of stages, such as --pp 4");
  }
  if (options.pp > 0 || options.microbatches > 0) {
    flags += fmt::format("pp {}", std::max<std::int64_t>(1, options.pp));
    if (!options.schedule.empty()) flags += fmt::format(" schedule \"{}\"", options.schedule);
    if (options.chunks > 0) flags += fmt::format(" chunks {}", options.chunks);
    if (options.microbatches > 0) flags += fmt::format(" microbatches {}", options.microbatches);
    flags += "\n";
  }
  ORRERY_RETURN_IF_ERROR(add(flags, "flags"));
  return out;
}

// Timelines of operations know stragglers, of workers, stages and types; other edits need kernels.
std::optional<Result<int>> operations(const WhatIfOptions& options, bool no_edits,
                                      const Common& common) {
  const std::vector<std::string>& files = options.files.files;
  if (files.size() != 1) return std::nullopt;
  const auto format = format_of_file(files[0]);
  if (!format || (*format)->operations == nullptr) return std::nullopt;
  if (!options.attribute || !no_edits) {
    return unsupported(std::string((*format)->name) + " has no kernels to edit", files[0],
                       "--attribute says what each worker, stage and type costs");
  }
  const TraceSources sources{.format = *format, .files = files, .hosts = {}};
  ORRERY_RETURN_IF_ERROR(check_scopes(options.files, {sources}, ChakraUse::as_graph));
  ORRERY_TRY(const auto timeline, (*format)->operations(files[0], incomplete(options.files)));
  const auto replay = replay_operations(timeline);
  if (!replay) return fail(at(files[0], replay.error()));
  return print(common.json ? to_json(operation_replay_json(*replay))
                           : operation_replay_text(*replay, text_style()));
}

// What is edited: a recording as its graph, or a graph file as it stands.
Result<GraphRun> subject(const WhatIfOptions& options, const std::vector<Edit>& edits,
                         const Common& common) {
  const std::vector<std::string>& files = options.files.files;
  if (files.size() == 1) {
    const auto format = format_of_file(files[0]);
    if (format && (*format)->graph != nullptr) {
      ORRERY_RETURN_IF_ERROR(check_graph_edits(edits));
      ORRERY_TRY(GraphFile graph, (*format)->graph(files[0]));
      return graph_run(std::move(graph), files[0]);
    }
  }
  ORRERY_TRY(RecordedRun run, read_trace_files(options.files, common));
  ORRERY_TRY(GraphFromRun graph, graph_from_run(run.ranks));
  return GraphRun{std::move(run), std::move(graph.graph), std::nullopt};
}

Result<int> edit_run(const WhatIfOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto edits, all_edits(options));
  if (const auto done = operations(options, edits.empty(), common)) return *done;
  ORRERY_TRY(const auto made, subject(options, edits, common));
  const RecordedRun* run = &made.seen;
  if (options.attribute) {
    if (!edits.empty()) {
      return bad_input("takes no edits", "--attribute",
                       "it removes the slowness of one rank after another by itself");
    }
    if (!options.html.empty() || !options.timeline.empty()) {
      return bad_input("cannot be combined with --html or --timeline", "--attribute",
                       "--no-stragglers --html FILE shows the run with all ranks alike");
    }
    ORRERY_TRY(const auto found, stragglers(run->ranks, made.graph));
    return print(common.json ? to_json(stragglers_json(found))
                             : stragglers_text(found, text_style()));
  }
  const bool divides =
      std::ranges::any_of(edits, [](const Edit& edit) { return edit.verb->asks_division; });
  const KnownDivision known = divides ? recorded_division(run->ranks, catalog) : KnownDivision{};
  ORRERY_TRY(const auto answer, what_if(run->ranks, made.graph, edits, catalog, known,
                                        made.operations ? &*made.operations : nullptr));
  if (!options.timeline.empty()) {
    ORRERY_RETURN_IF_ERROR(write_recorded_json(
        options.timeline, edited_recording(run->ranks, answer.graph, answer.timeline)));
  }
  if (!options.html.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(options.html, whatif_html(run->ranks, made.graph, answer)));
  }
  return print(common.json ? to_json(whatif_json(answer)) : whatif_text(answer, text_style()));
}

}  // namespace

Command trace_whatif(CLI::App& trace) {
  auto [app, options] =
      subcommand<WhatIfOptions>(trace, "whatif", "a recorded run, edited and simulated again");
  add_trace_files(app, options->files);
  app->add_option("--edit", options->edits,
                  "edits in the language below; may be given several times, applied in order");
  app->add_option("--edits", options->edit_file,
                  "a file of edits, applied before those of --edit; - is standard input");
  app->add_flag("--graphs", options->capture,
                "launch by graphs: the host takes no time but to load data and to wait (capture)");
  app->add_flag("--no-stragglers", options->no_stragglers,
                "between two meetings no rank takes longer than the mean of the ranks (even)");
  app->add_option("--bandwidth", options->bandwidth,
                  "the network's bandwidth times this (bandwidth by FACTOR)")
      ->check(number_within(1e-6, 1e6));
  const CLI::Range any_count(std::int64_t{1}, std::int64_t{1'000'000'000});
  app->add_option("--dp", options->dp,
                  "so many data-parallel ranks; of a run without any, its gradients are reduced")
      ->check(any_count);
  app->add_option("--tp", options->tp, "so many ranks divide every layer")->check(any_count);
  app->add_option("--pp", options->pp, "the layers on so many stages of a pipeline")
      ->check(any_count);
  app->add_option("--schedule", options->schedule,
                  "with --pp: 1f1b (unless said), gpipe, interleaved_1f1b, breadth_first, ...");
  app->add_option("--chunks", options->chunks, "with --pp: virtual stages of each stage")
      ->check(any_count);
  app->add_option(
         "--microbatches", options->microbatches,
         "so many microbatches a step, each as large as a recorded one; with --pp or alone")
      ->check(any_count);
  app->add_option("--accelerator,--on", options->accelerator,
                  "kernels as they would run on another accelerator of the catalog; of a predicted "
                  "step all operations, on a cluster: b200-sxm:16")
      ->check(not_empty());
  app->add_option("--timeline", options->timeline,
                  "write the edited run as a trace to this file, for Perfetto");
  app->add_option("--html", options->html,
                  "write a page with charts to this file: the run before and after");
  app->add_flag("--attribute", options->attribute,
                "what each slow rank and kind of work costs; takes no edits");
  std::string footer = "Edits, one a line or with ; between:\n";
  for (const EditVerb* verb : edit_verbs()) footer += fmt::format("  {}\n", verb->form);
  app->footer(
      footer +
      "WHERE: any of kernel PATTERN, class NAME, operator PATTERN, shape PATTERN, collective\n"
      "PATTERN, group PATTERN, rank N, stream N, host; all that are given must hold\n"
      "\n"
      "Options of every command, as --json, --threads and --catalog: orrery --help\n"
      "\n"
      "Examples:\n"
      "  orrery trace whatif validation/traces/torchrec/sst_long_a2a_optimizer_4 --bandwidth 2\n"
      "  orrery trace whatif validation/traces/torchrec/sst_long_a2a_optimizer_4 --edit \"scale "
      "class matrix_product by 50%; latency to 5us\"\n"
      "  orrery trace whatif validation/traces/astra-sim/megatron-tp8 --pp 4 --microbatches 16");
  return command(app, options, edit_run);
}

}  // namespace orrery::cli
