#include "graph_files.h"

#include "document/value.h"
#include "replay/graph_from_run.h"
#include "replay/run_graph_file.h"
#include "trace/byte_stream.h"

namespace orrery::cli {

Result<std::string> write_graph(const std::string& out, const GraphFile& file) {
  std::string text = graph_file_text(file);
  if (out.ends_with(".gz")) text = gzip(text);
  ORRERY_RETURN_IF_ERROR(write_file(out, text));
  return out + "  " + std::to_string(file.graph.size()) + " nodes, " +
         std::to_string(file.graph.edges()) + " dependencies, " +
         std::to_string(file.graph.streams().size()) + " streams";
}

void add_chakra_dependencies(CLI::App* app, ChakraGraphOptions& options) {
  app->add_flag_callback(
      "--ignore-absent", [&options] { options.absent = AbsentDependencies::count_as_done; },
      "of .et files: dependencies on nodes that are not there count as done");
  app->add_flag_callback(
      "--ignore-control", [&options] { options.control = ControlDependencies::ignore; },
      "of .et files: heed data dependencies only, as older feeders did");
}

Result<std::string> write_run_graph(const std::string& out, const RecordedRun& run) {
  ORRERY_TRY(const GraphFromRun graph, graph_from_run(run.ranks));
  return write_graph(out, graph_file(run.ranks, graph.graph));
}

Result<std::string> write_chakra_graph(const std::string& out,
                                       const std::vector<std::string>& files, Incomplete incomplete,
                                       const ChakraGraphOptions& options) {
  ORRERY_TRY(const ChakraRun run, read_chakra_run(files, incomplete));
  ORRERY_TRY(const ChakraGraph graph, chakra_graph(run, options));
  return write_graph(out, graph_file(graph));
}

}  // namespace orrery::cli
