#include "replay_chakra.h"

#include <algorithm>
#include <utility>

#include "cluster/cluster.h"
#include "graph_files.h"
#include "replay/chakra_prices.h"
#include "replay/graph_replay.h"
#include "report/graph_replay_report.h"
#include "trace/graph_file/graph_file.h"
#include "trace/trace_format.h"
#include "trace/workload_text/workload_chakra.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

bool is_ours(TraceFormat format) {
  return format == TraceFormat::chakra || format == TraceFormat::workload_text ||
         format == TraceFormat::graph;
}

Result<ChakraRun> read(const std::vector<std::string>& files,
                       const std::vector<TraceFormat>& formats) {
  const auto other = std::find_if(formats.begin(), formats.end(),
                                  [](TraceFormat f) { return f != TraceFormat::chakra; });
  if (other == formats.end()) return read_chakra_run(files);
  if (files.size() > 1) {
    return fail(ErrorCode::bad_input,
                "is " + std::string(name(*other)) + ", and other files are given beside it",
                files[static_cast<std::size_t>(other - formats.begin())],
                "give .et files of one job, or one text workload");
  }
  ORRERY_TRY(const Workload workload, read_workload(files[0]));
  // What it says holds for every rank.
  ChakraRun run;
  run.push_back({0, files[0], chakra_from(workload, 0)});
  return run;
}

Result<std::string> replayed_graph(const std::vector<std::string>& files,
                                   const ReplayChakraOptions& options, const Common& common) {
  if (files.size() > 1) {
    return fail(ErrorCode::bad_input, "two files are given, one of which is a graph", files[1],
                "a graph holds all ranks");
  }
  if (!options.cluster.empty()) {
    return fail(ErrorCode::bad_input, "a graph holds durations only", "--on " + options.cluster,
                "give the .et files that it was made of");
  }
  ORRERY_TRY(const GraphFile file, read_graph_file(files[0]));
  const GraphReplay result = replay(file);
  return common.json ? to_json(graph_replay_json(result, file))
                     : graph_replay_text(result, file, text_style());
}

Result<std::string> replayed(const std::vector<std::string>& files,
                             const std::vector<TraceFormat>& formats,
                             const ReplayChakraOptions& options, const Common& common) {
  if (std::find(formats.begin(), formats.end(), TraceFormat::graph) != formats.end()) {
    return replayed_graph(files, options, common);
  }
  ORRERY_TRY(const ChakraRun run, read(files, formats));
  ChakraGraphOptions graph_options = options.graph;
  std::optional<ChakraPrices> prices;
  if (!options.cluster.empty()) {
    ORRERY_TRY(const Catalog catalog, open_catalog(common));
    ORRERY_TRY(const Cluster cluster, parse_cluster(options.cluster, catalog));
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

std::optional<int> run_chakra_replay(const std::vector<std::string>& given,
                                     const ReplayChakraOptions& options, const Common& common) {
  const auto files = files_and_folders(given);
  if (!files) return std::nullopt;  // whoever reads them says so
  std::vector<TraceFormat> formats;
  for (const std::string& file : *files) {
    if (file == "-") return std::nullopt;
    const auto format = format_of_file(file);
    if (!format) return std::nullopt;
    formats.push_back(*format);
  }
  if (std::none_of(formats.begin(), formats.end(), is_ours)) return std::nullopt;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    if (is_ours(formats[i])) continue;
    return refuse(
        {ErrorCode::bad_input, "is " + std::string(name(formats[i])), (*files)[i],
         "give files of one kind: .et files, one text workload or graph, or profiler's traces"});
  }
  const auto text = replayed(*files, formats, options, common);
  if (!text) return refuse(text.error());
  return print(*text);
}

}  // namespace orrery::cli
