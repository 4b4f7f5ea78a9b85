#include "replay/graph_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "simulate/simulate.h"
#include "trace/recorded_time.h"

namespace orrery {
namespace {

class GraphPaths {
 public:
  explicit GraphPaths(const Graph& graph) : graph_(graph), chains_(graph, simulate(graph)) {}

  [[nodiscard]] std::int64_t end_ns(std::size_t n) const { return chains_.end_ns(n); }

  // Of every rank of the graph's streams, from its first to its last operation, transfers between
  // two ranks apart.
  [[nodiscard]] std::map<std::int64_t, PathWindow> wholes() const {
    std::map<std::int64_t, PathWindow> windows;
    for (const Stream& one : graph_.streams()) windows.emplace(one.rank_class, nothing());
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const NodeIndex n(i);
      if (graph_.kind(n) == NodeKind::point_to_point || graph_.kind(n) == NodeKind::barrier ||
          graph_.duration(n).count() <= 0) {
        continue;
      }
      const std::uint32_t own = rank_of(graph_.stream(n));
      if (!is_wire(graph_.stream(n))) extend(windows.at(own), i);
      for (const StreamIndex s : graph_.rendezvous_streams(n)) {
        if (!is_wire(s) && rank_of(s) != own) extend(windows.at(rank_of(s)), i);
      }
    }
    return windows;
  }

  // Of a rank that may have no stream.
  static PathWindow whole_of(const std::map<std::int64_t, PathWindow>& wholes,
                             const RecordedTrace& seen) {
    const auto found = wholes.find(seen.rank);
    PathWindow window = found != wholes.end() ? found->second : nothing();
    window.step.rank = seen.rank;
    const Interval span = span_of(seen);
    window.step.start_ns = span.start;
    window.step.end_ns = span.end;
    return window;
  }

  // `name_of(node, rank)` is text that outlives the call.
  template <class NameOf>
  [[nodiscard]] StepPath path(const PathWindow& window, NameOf name_of) const {
    PathCollection path(window.step);
    if (window.to == kNoNode) return path.path();
    const std::vector<ChainNode> chain = chains_.up_to(window.to, window.from_ns);
    const std::vector<Place> places =
        places_of(chain, static_cast<std::uint32_t>(window.step.rank));
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const auto [rank, stream] = places[i];
      path.add({.rank = rank,
                .place = stream.value(),
                .on = place_text(stream),
                .on_host = on_host(stream),
                .name = name_of(NodeIndex(chain[i].node), rank),
                .bound = bound_of(NodeIndex(chain[i].node), stream,
                                  i == 0 || on_host(places[i - 1].stream))},
               chain[i].ns);
    }
    return path.path();
  }

 private:
  struct Place {
    std::uint32_t rank = 0;
    StreamIndex stream;
  };

  static PathWindow nothing() {
    PathWindow window;
    window.step.of = "the whole run";
    window.from_ns = std::numeric_limits<std::int64_t>::max();
    return window;
  }

  // By node `i`, which ends the window if none of it ends later.
  void extend(PathWindow& window, std::uint32_t i) const {
    const double start_ps = chains_.end_ps(i) - graph_.duration(NodeIndex(i)).count();
    window.from_ns = std::min<std::int64_t>(window.from_ns, std::llround(start_ps / 1000));
    if (window.to != kNoNode && chains_.end_ps(i) <= chains_.end_ps(window.to)) return;
    window.to = i;
  }

  [[nodiscard]] const Stream& stream(StreamIndex s) const { return graph_.streams()[s.value()]; }
  [[nodiscard]] std::uint32_t rank_of(StreamIndex s) const { return stream(s).rank_class; }
  [[nodiscard]] bool is_wire(StreamIndex s) const { return stream(s).role == StreamRole::wire; }
  [[nodiscard]] bool on_host(StreamIndex s) const { return stream(s).role == StreamRole::host; }

  // The stream on which a rank takes part in a node; the node's own where it takes none.
  [[nodiscard]] StreamIndex stream_of(NodeIndex n, std::uint32_t rank) const {
    const StreamIndex own = graph_.stream(n);
    if (rank_of(own) == rank) return own;
    for (const StreamIndex s : graph_.rendezvous_streams(n)) {
      if (rank_of(s) == rank) return s;
    }
    return own;
  }

  // An operation of several ranks belongs to the rank in which the path continues, latencies within
  // a rank, which are on no stream of their own, to the stream that they lead to.
  [[nodiscard]] std::vector<Place> places_of(const std::vector<ChainNode>& chain,
                                             std::uint32_t rank) const {
    std::vector<Place> places(chain.size());
    for (std::size_t i = chain.size(); i-- > 0;) {
      const StreamIndex own = stream_of(NodeIndex(chain[i].node), rank);
      const bool last = i + 1 == chain.size();
      if (!last) rank = rank_of(own);
      const bool leads_on = !last && is_wire(own) && rank_of(places[i + 1].stream) == rank;
      places[i] = {rank, leads_on ? places[i + 1].stream : own};
    }
    return places;
  }

  // Of a node that the path counts to a stream; `launched` by a thread before it.
  [[nodiscard]] PathBound bound_of(NodeIndex n, StreamIndex counted, bool launched) const {
    switch (graph_.kind(n)) {
      case NodeKind::kernel:
      case NodeKind::block:
        return PathBound::compute;
      case NodeKind::collective:
      case NodeKind::point_to_point:
        return PathBound::communication;
      case NodeKind::copy:
        return PathBound::copies;
      case NodeKind::host:
      case NodeKind::barrier:
        break;
    }
    const StreamIndex own = graph_.stream(n);
    if (!is_wire(own)) return on_host(own) ? PathBound::host : PathBound::kernel_gap;
    return launched && !on_host(counted) ? PathBound::launch_delay : PathBound::wake_up;
  }

  [[nodiscard]] std::string place_text(StreamIndex s) const {
    const std::string_view label = graph_.label(s);
    return std::string(label.empty() ? to_text(stream(s).role) : label);
  }

  const Graph& graph_;
  CriticalChains chains_;
};

}  // namespace

std::vector<StepPath> step_paths(const GraphFile& file, const RecordedRun& seen) {
  const GraphPaths of_graph(file.graph);
  const auto wholes = of_graph.wholes();
  std::vector<StepPath> paths;
  for (const RecordedTrace& trace : seen.ranks) {
    PathWindow window = GraphPaths::whole_of(wholes, trace);
    const auto step = std::ranges::find_if(file.steps, [&](const auto& s) {
      return s.rank == trace.rank && s.name.starts_with("ProfilerStep");
    });
    if (step != file.steps.end()) {
      window.step.of = step->name;
      window.from_ns = step->after ? of_graph.end_ns(*step->after) : 0;
      window.to = step->until;
      if (step->recorded_ps > 0) window.step.recorded_ns = std::llround(step->recorded_ps / 1000);
    }
    paths.push_back(
        of_graph.path(window, [&](NodeIndex n, std::uint32_t) { return file.graph.name(n); }));
  }
  return paths;
}

std::vector<StepPath> step_paths(const ChakraRun& run, const ChakraGraph& graph,
                                 const RecordedRun& seen) {
  const GraphPaths of_graph(graph.graph);
  const auto wholes = of_graph.wholes();
  const auto name_of = [&](NodeIndex n, std::uint32_t rank) -> std::string_view {
    const std::span<const ChakraGraph::Member> members = graph.members_of(n);
    if (members.empty()) return "before the first operation";
    const auto own = std::ranges::find_if(members, [&](const auto& member) {
      return run[member.node.rank].rank == static_cast<std::int64_t>(rank);
    });
    const ChakraMember& of = own == members.end() ? members.front().node : own->node;
    return run[of.rank].trace.nodes[of.node].name;
  };
  std::vector<StepPath> paths;
  for (const RecordedTrace& trace : seen.ranks) {
    StepPath path = of_graph.path(GraphPaths::whole_of(wholes, trace), name_of);
    if (seen.source == RunSource::execution_trace) path.recorded_ns = path.end_ns - path.start_ns;
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace orrery
