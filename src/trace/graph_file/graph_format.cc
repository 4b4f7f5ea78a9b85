// Files of graphs, Orrery's own.
#include <set>

#include "trace/contents_table.h"
#include "trace/graph_file/graph_file.h"
#include "trace/known_formats.h"

namespace orrery {
namespace {

TraceContents contents(const GraphFile& graph, const std::string& file) {
  WorkTable work;
  for (std::size_t n = 0; n < graph.graph.size(); ++n) {
    const NodeIndex node(n);
    WorkTable::add_time(work.at(graph.graph.label(graph.graph.category(node))),
                        graph.graph.duration(node).seconds());
  }
  std::set<std::uint32_t> ranks;
  for (const Stream& stream : graph.graph.streams()) ranks.insert(stream.rank_class);
  Facts facts;
  facts.number("ranks", ranks.size());
  facts.number("streams", graph.graph.streams().size());
  facts.number("nodes", graph.graph.size());
  facts.number("data_dependencies", graph.graph.edges());
  facts.number("steps", graph.steps.size());
  return {file, &kGraph, facts.take(), work.rows()};
}

}  // namespace

const TraceFormat kGraph{
    .key = "graph",
    .name = "a graph of Orrery",
    .plural = "graphs of Orrery",
    .instead = kNeedsHostCalls,
    .told_at =
        [](std::string_view beginning) { return first_key(beginning, {"\"orrery_graph\""}); },
    .graph = read_graph_file,
    .contents = [](const std::string& file, Incomplete) -> Result<TraceContents> {
      ORRERY_TRY(const GraphFile graph, read_graph_file(file));
      return contents(graph, shown_name(file));
    }};

}  // namespace orrery
