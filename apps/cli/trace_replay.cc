// orrery trace replay: a recorded run simulated from its durations and dependencies.
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>

#include "cluster/cluster.h"
#include "command.h"
#include "replay/chakra_graph.h"
#include "replay/chakra_prices.h"
#include "replay/graph_replay.h"
#include "replay/operation_replay.h"
#include "replay/replay.h"
#include "report/traces/trace_reports.h"
#include "trace/graph_file/graph_file.h"
#include "trace/perfetto/recorded_json.h"
#include "trace/trace_inputs.h"
#include "trace_files.h"
#include "whatif/edited_recording.h"

namespace orrery::cli {
namespace {

// orrery trace replay of Chakra traces, text workloads and graphs.

struct ReplayChakraOptions {
  std::string cluster;
  ChakraGraphOptions graph;
};

Result<ChakraRun> read(const TraceSources& sources, Incomplete incomplete) {
  if (sources.format->chakra != nullptr) return sources.format->chakra(sources.files, incomplete);
  const std::string& file = sources.files[0];
  ORRERY_TRY(const ChakraOfRanks ranks, sources.format->chakra_of_ranks(file));
  // What it says of the first rank holds for every rank.
  ChakraRun run;
  run.push_back({0, file, ranks.trace(0)});
  return run;
}

Result<std::string> replayed_graph(const TraceSources& sources, const ReplayChakraOptions& options,
                                   const Common& common) {
  if (!options.cluster.empty()) {
    return fail(ErrorCode::bad_input, "a graph has durations only and cannot be priced",
                "--on " + options.cluster, "give the .et files that it was made of");
  }
  ORRERY_TRY(const GraphFile file, sources.format->graph(sources.files[0]));
  const GraphReplay result = replay(file);
  return common.json ? to_json(graph_replay_json(result, file))
                     : graph_replay_text(result, file, text_style());
}

Result<std::string> replayed(const TraceSources& sources, Incomplete incomplete,
                             const ReplayChakraOptions& options, const Common& common) {
  if (sources.format->graph != nullptr) return replayed_graph(sources, options, common);
  ORRERY_TRY(ChakraRun read_run, read(sources, incomplete));
  // Never freed: the process ends next, and freeing millions of nodes one by one takes long.
  static const ChakraRun& run = *new ChakraRun(std::move(read_run));
  ChakraGraphOptions graph_options = options.graph;
  // What a cut file lost cannot be waited for.
  if (incomplete == Incomplete::use_what_is_whole) {
    graph_options.absent = AbsentDependencies::count_as_done;
  }
  std::optional<ChakraPrices> prices;
  if (!options.cluster.empty()) {
    ORRERY_TRY(const Catalog catalog, open_catalog(common));
    ORRERY_TRY(const Cluster cluster, parse_cluster(options.cluster, catalog));
    if (const ChakraRank& last = run.back(); last.rank >= cluster.accelerators) {
      return fail(ErrorCode::bad_input,
                  "rank " + std::to_string(last.rank) + " has no accelerator on " + options.cluster,
                  last.file, "rank r runs on accelerator r, counted from 0");
    }
    ORRERY_TRY(prices, ChakraPrices::create(cluster, catalog));
    graph_options.prices = &*prices;
  }
  ORRERY_TRY(const ChakraGraph graph, chakra_graph(run, graph_options));
  const GraphReplay result = replay(run, graph);
  return common.json ? to_json(chakra_replay_json(result, graph, run))
                     : chakra_replay_text(result, graph, text_style());
}

// Adds --on, --ignore-absent and --ignore-control.
void add_replay_chakra(CLI::App* app, ReplayChakraOptions& options) {
  app->add_option("--on", options.cluster,
                  "of .et files and text workloads: price communication, and computing without a "
                  "duration, on this cluster: h100-sxm:64");
  add_chakra_dependencies(app, options.graph);
}

// Of sources that can be read as one of these. The exit code.
Result<int> run_chakra_replay(const TraceSources& sources, Incomplete incomplete,
                              const ReplayChakraOptions& options, const Common& common) {
  ORRERY_TRY(const auto text, replayed(sources, incomplete, options, common));
  return print(text);
}

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
  ORRERY_TRY(const auto run, read_trace_files(options.files, common));
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

Command trace_replay(CLI::App& trace) {
  auto [app, options] = subcommand<ReplayOptions>(
      trace, "replay", "simulate a recorded run from durations and dependencies");
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
  return command(app, options, run_replay);
}

}  // namespace orrery::cli
