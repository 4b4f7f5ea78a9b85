#include "replay_chakra.h"

#include <optional>
#include <string>
#include <utility>

#include "cluster/cluster.h"
#include "graph_files.h"
#include "replay/chakra_prices.h"
#include "replay/graph_replay.h"
#include "report/traces/graph_replay_report.h"
#include "trace/graph_file/graph_file.h"

namespace orrery::cli {
namespace {

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

}  // namespace

void add_replay_chakra(CLI::App* app, ReplayChakraOptions& options) {
  app->add_option("--on", options.cluster,
                  "of .et files and text workloads: price communication, and computing without a "
                  "duration, on this cluster: h100-sxm:64");
  add_chakra_dependencies(app, options.graph);
}

Result<int> run_chakra_replay(const TraceSources& sources, Incomplete incomplete,
                              const ReplayChakraOptions& options, const Common& common) {
  ORRERY_TRY(const auto text, replayed(sources, incomplete, options, common));
  return print(text);
}

}  // namespace orrery::cli
