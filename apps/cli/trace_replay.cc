// orrery trace replay: a recorded run simulated from its durations and dependencies.
#include <memory>

#include "replay/operation_replay.h"
#include "replay/replay.h"
#include "replay_chakra.h"
#include "report/traces/replay_report.h"
#include "trace.h"
#include "trace/perfetto/recorded_json.h"
#include "trace/trace_inputs.h"
#include "trace_files.h"
#include "whatif/edited_recording.h"

namespace orrery::cli {
namespace {

struct ReplayOptions {
  TraceFiles files;
  ReplayChakraOptions chakra;
  bool without_stream_waits = false;
  std::string timeline;
};

Result<int> run_operations(const ReplayOptions& options, const TraceSources& sources,
                           const Common& common) {
  const std::string& file = sources.files[0];
  ORRERY_TRY(const auto timeline, sources.format->operations(file, incomplete(options.files)));
  const auto replay = replay_operations(timeline);
  if (!replay) return fail(at(file, replay.error()));
  if (common.json) return print(to_json(operation_replay_json(*replay)));
  return print(operation_replay_text(*replay, text_style()));
}

Result<int> run_replay(const ReplayOptions& options, const Common& common) {
  ORRERY_TRY(const auto sources, trace_sources(options.files.files));
  ORRERY_RETURN_IF_ERROR(check_scopes(options.files, {sources}, ChakraUse::as_graph));
  if (sources.format->recording == nullptr && !options.timeline.empty()) {
    return unsupported("has no recorded events for --timeline", sources.files[0],
                       "orrery trace convert writes such files for viewers");
  }
  if (sources.format->operations != nullptr) return run_operations(options, sources, common);
  if (sources.format->recording == nullptr) {
    return run_chakra_replay(sources, incomplete(options.files), options.chakra, common);
  }
  if (!options.chakra.cluster.empty()) {
    return bad_input(
        "a recording keeps its own times", "--on " + options.chakra.cluster,
        "--on prices .et files and text workloads; orrery trace whatif edits recordings");
  }
  ORRERY_TRY(const auto run, read_trace_files(options.files, Ranks::any, common));
  GraphFromRunOptions graph_options;
  if (options.without_stream_waits) graph_options.stream_waits = StreamWaits::dropped;
  ORRERY_TRY(const auto graph, graph_from_run(run.ranks, graph_options));
  const ReplayedRun replayed = replayed_run(graph.graph);
  const Replay result = replay(run.ranks, graph.graph, replayed);
  if (!options.timeline.empty()) {
    ORRERY_RETURN_IF_ERROR(
        write_recorded_json(options.timeline, edited_recording(run.ranks, graph.graph, replayed)));
  }
  if (common.json) return print(to_json(replay_json(result, graph, run.ranks)));
  return print(replay_text(result, graph, text_style()));
}

}  // namespace

TraceSubcommand trace_replay(CLI::App& trace) {
  CLI::App* app =
      trace.add_subcommand("replay", "simulate a recorded run from durations and dependencies");
  auto options = std::make_shared<ReplayOptions>();
  add_trace_files(app, options->files);
  app->add_flag("--without-stream-waits", options->without_stream_waits,
                "leave out what streams of a device wait for in each other");
  app->add_option("--timeline", options->timeline,
                  "write the replayed run as a trace, for Perfetto and all that reads traces");
  add_replay_chakra(app, options->chakra);
  app->footer(
      "Examples:\n"
      "  orrery trace replay validation/traces/torchrec/sst_long_a2a_optimizer\n"
      "  orrery trace replay "
      "validation/traces/astra-sim/et-microbenchmarks/all_reduce/8npus_1MB --on h100-sxm:8");
  return TraceSubcommand{app,
                         [options](const Common& common) { return run_replay(*options, common); }};
}

}  // namespace orrery::cli
