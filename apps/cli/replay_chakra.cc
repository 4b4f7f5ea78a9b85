#include "replay_chakra.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cluster/cluster.h"
#include "graph_files.h"
#include "replay/chakra_prices.h"
#include "replay/graph_replay.h"
#include "report/graph_replay_report.h"
#include "trace/graph_file/graph_file.h"
#include "trace/trace_format.h"
#include "trace/trace_inputs.h"
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

Error no_timeline(const std::string& file) {
  return {ErrorCode::unsupported, "has no recorded events for --timeline", file,
          "orrery trace convert writes such files for viewers"};
}

std::optional<int> run_chakra_replay(const std::vector<std::string>& given,
                                     const ReplayChakraOptions& options,
                                     const std::string& timeline, const Common& common) {
  const auto inputs = trace_inputs(given);
  if (!inputs) return std::nullopt;  // whoever reads them says so
  // A folder may hold a recording with what was made of it: then it stands for the recording.
  const bool recorded = std::any_of(inputs->begin(), inputs->end(), [](const TraceInput& input) {
    return input.format == TraceFormat::kineto;
  });
  std::vector<std::string> files;
  std::vector<TraceFormat> formats;
  const TraceInput* other = nullptr;
  for (const TraceInput& input : *inputs) {
    if (input.file == "-") return std::nullopt;
    if (!is_ours(input.format)) {
      if (!input.of_folder && other == nullptr) other = &input;
    } else if (!recorded || !input.of_folder) {
      files.push_back(input.file);
      formats.push_back(input.format);
    }
  }
  if (files.empty()) return std::nullopt;
  if (other != nullptr) {
    if (auto format = format_of_file(other->file); !format) return refuse(format.error());
    return refuse(
        {ErrorCode::bad_input, "is " + std::string(name(other->format)), other->file,
         "give files of one kind: .et files, one text workload or graph, or profiler's traces"});
  }
  if (!timeline.empty()) return refuse(no_timeline(files.front()));
  const auto text = replayed(files, formats, options, common);
  if (!text) return refuse(text.error());
  return print(*text);
}

}  // namespace orrery::cli
