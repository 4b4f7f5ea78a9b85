#include "replay/graph_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "replay/path_hops.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// What of a path's window the caller knows.
struct Window {
  std::uint32_t rank = 0;
  std::int64_t from_ns = 0;
  std::uint32_t to = kNone;
  std::int64_t recorded_ns = -1;  // < 0: not recorded
  std::string of;
};

class GraphWalks {
 public:
  explicit GraphWalks(const Graph& graph) : graph_(graph), timeline_(simulate(graph)) {
    std::vector<std::uint32_t> last(graph.streams().size(), kNone);
    before_.assign(graph.size(), kNone);
    others_before_.resize(graph.rendezvous().size());
    std::size_t meeting = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const NodeIndex n(i);
      before_[i] = follow(last, graph.stream(n), i);
      const std::span<const StreamIndex> others = graph.rendezvous_streams(n);
      if (others.empty()) continue;
      for (const StreamIndex s : others) others_before_[meeting].push_back(follow(last, s, i));
      ++meeting;
    }
  }

  [[nodiscard]] std::int64_t end_ns(std::size_t n) const {
    return std::llround(timeline_.end_ps[n] / 1000);
  }
  [[nodiscard]] std::int64_t start_ns(std::size_t n) const {
    return std::llround(timeline_.start(graph_, NodeIndex(n)).count() / 1000);
  }

  // Of every rank of the graph's streams, from its first to its last operation, transfers between
  // two ranks apart.
  [[nodiscard]] std::vector<Window> wholes() const {
    std::uint32_t ranks = 0;
    for (const Stream& one : graph_.streams()) ranks = std::max(ranks, one.rank_class + 1);
    std::vector<Window> windows(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      windows[rank] = whole_of_nothing(rank);
    }
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const NodeIndex n(i);
      if (graph_.kind(n) == NodeKind::point_to_point || graph_.kind(n) == NodeKind::barrier ||
          graph_.duration(n).count() <= 0) {
        continue;
      }
      const StreamIndex own = graph_.stream(n);
      if (!is_wire(own)) extend(windows[stream(own).rank_class], i);
      for (const StreamIndex s : graph_.rendezvous_streams(n)) {
        if (!is_wire(s) && stream(s).rank_class != stream(own).rank_class) {
          extend(windows[stream(s).rank_class], i);
        }
      }
    }
    return windows;
  }

  static Window whole_of_nothing(std::uint32_t rank) {
    return {
        .rank = rank, .from_ns = std::numeric_limits<std::int64_t>::max(), .of = "the whole run"};
  }

  // `name_of(node, rank)` is text that outlives the call.
  template <class NameOf>
  [[nodiscard]] StepPath path(const Window& window, const RecordedTrace& seen,
                              NameOf name_of) const {
    StepPath step;
    step.rank = window.rank;
    step.of = window.of;
    if (window.recorded_ns >= 0) step.recorded_ns = window.recorded_ns;
    if (seen.size() > 0) {
      step.start_ns = seen.start_ns.front();
      step.end_ns = step.start_ns;
      for (std::size_t e = 0; e < seen.size(); ++e) {
        step.end_ns = std::max(step.end_ns, seen.end_ns(e));
      }
    }
    PathHops hops(std::move(step));
    const std::vector<Hop> chain = chain_of(window);
    std::size_t last = chain.size();  // the hop before that took time
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (chain[i].end_ns == chain[i].begin_ns) continue;
      const Hop& one = chain[i];
      PathHop hop;
      hop.rank = one.rank;
      hop.place = one.stream.value();
      hop.name = name_of(NodeIndex(one.node), one.rank);
      hop.bound = bound_of(chain, i);
      hop.cause = last == chain.size() ? StretchCause::window : cause_of(chain[last], one);
      hop.begin_ns = one.begin_ns - window.from_ns;
      hop.end_ns = one.end_ns - window.from_ns;
      hops.add(hop, place_text(one.stream));
      last = i;
    }
    return hops.path();
  }

 private:
  struct Hop {
    std::uint32_t node = 0;
    std::uint32_t rank = 0;
    StreamIndex stream;  // what takes none counts to that of the next
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };

  // By node `i`, which ends the window if none of it ends later.
  void extend(Window& window, std::size_t i) const {
    window.from_ns = std::min(window.from_ns, start_ns(i));
    if (window.to != kNone && timeline_.end_ps[i] <= timeline_.end_ps[window.to]) return;
    window.to = static_cast<std::uint32_t>(i);
  }

  std::uint32_t follow(std::vector<std::uint32_t>& last, StreamIndex s, std::size_t node) const {
    if (is_wire(s)) return kNone;
    return std::exchange(last[s.value()], static_cast<std::uint32_t>(node));
  }
  [[nodiscard]] const Stream& stream(StreamIndex s) const { return graph_.streams()[s.value()]; }
  [[nodiscard]] bool is_wire(StreamIndex s) const { return stream(s).role == StreamRole::wire; }
  [[nodiscard]] bool on_host(StreamIndex s) const { return stream(s).role == StreamRole::host; }

  // The stream on which a rank takes part in a node; kNone.
  [[nodiscard]] StreamIndex stream_of(NodeIndex n, std::uint32_t rank) const {
    if (stream(graph_.stream(n)).rank_class == rank) return graph_.stream(n);
    for (const StreamIndex s : graph_.rendezvous_streams(n)) {
      if (stream(s).rank_class == rank) return s;
    }
    return StreamIndex(kNone);
  }

  // What ended last of all that a node waited for; kNone.
  [[nodiscard]] std::uint32_t source_of(std::uint32_t node) const {
    std::uint32_t source = kNone;
    const auto consider = [&](std::uint32_t candidate) {
      if (candidate == kNone) return;
      if (source == kNone || timeline_.end_ps[candidate] > timeline_.end_ps[source]) {
        source = candidate;
      }
    };
    consider(before_[node]);
    for (const std::uint32_t p : graph_.predecessors(NodeIndex(node))) consider(p);
    const auto meetings = graph_.rendezvous();
    const auto meeting = std::lower_bound(
        meetings.begin(), meetings.end(), NodeIndex(node),
        [](const auto& entry, NodeIndex n) { return entry.first.value() < n.value(); });
    if (meeting != meetings.end() && meeting->first == NodeIndex(node)) {
      for (const std::uint32_t p :
           others_before_[static_cast<std::size_t>(meeting - meetings.begin())]) {
        consider(p);
      }
    }
    return source;
  }

  // First to last.
  [[nodiscard]] std::vector<Hop> chain_of(const Window& window) const {
    std::vector<Hop> chain;
    if (window.to == kNone) return chain;
    std::uint32_t node = window.to;
    std::uint32_t rank = window.rank;
    StreamIndex on = stream_of(NodeIndex(node), rank);
    if (on.value() == kNone) on = graph_.stream(NodeIndex(node));
    std::int64_t until = end_ns(node);
    while (until > window.from_ns) {
      const std::uint32_t source = source_of(node);
      const std::int64_t begin =
          source == kNone ? window.from_ns : std::max(window.from_ns, end_ns(source));
      chain.push_back({node, rank, on, begin, until});
      until = begin;
      if (source == kNone) break;
      node = source;
      StreamIndex next = stream_of(NodeIndex(node), rank);
      if (next.value() == kNone) next = graph_.stream(NodeIndex(node));
      rank = stream(next).rank_class;
      // Latencies within a rank are on no stream of their own.
      if (!is_wire(next) || stream(on).rank_class != rank) on = next;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  [[nodiscard]] PathBound bound_of(const std::vector<Hop>& chain, std::size_t i) const {
    const NodeIndex n(chain[i].node);
    const StreamIndex own = graph_.stream(n);
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
    if (!is_wire(own)) return on_host(own) ? PathBound::host : PathBound::kernel_gap;
    if (on_host(chain[i].stream)) return PathBound::wake_up;
    const bool launched = i == 0 || on_host(chain[i - 1].stream);
    return launched ? PathBound::launch_delay : PathBound::wake_up;
  }

  [[nodiscard]] StretchCause cause_of(const Hop& from, const Hop& to) const {
    if (from.rank != to.rank) return StretchCause::rank;
    const bool from_host = on_host(from.stream);
    if (on_host(to.stream)) return from_host ? StretchCause::other_thread : StretchCause::device;
    return from_host ? StretchCause::launch : StretchCause::other_stream;
  }

  [[nodiscard]] std::string place_text(StreamIndex s) const {
    const std::string_view label = graph_.label(s);
    return std::string(label.empty() ? to_text(stream(s).role) : label);
  }

  const Graph& graph_;
  Timeline timeline_;
  std::vector<std::uint32_t> before_;                      // on a node's own stream
  std::vector<std::vector<std::uint32_t>> others_before_;  // of each rendezvous, on its other ones
};

// Of a rank that may have no stream.
Window whole_of(const std::vector<Window>& wholes, std::int64_t rank) {
  const auto place = static_cast<std::size_t>(rank);
  return place < wholes.size() ? wholes[place]
                               : GraphWalks::whole_of_nothing(static_cast<std::uint32_t>(rank));
}

}  // namespace

std::vector<StepPath> step_paths(const GraphFile& file, const RecordedRun& seen) {
  const GraphWalks walks(file.graph);
  const std::vector<Window> wholes = walks.wholes();
  std::vector<StepPath> paths;
  for (const RecordedTrace& trace : seen.ranks) {
    Window window = whole_of(wholes, trace.rank);
    const auto step = std::find_if(file.steps.begin(), file.steps.end(), [&](const auto& s) {
      return s.rank == trace.rank && s.name.starts_with("ProfilerStep");
    });
    if (step != file.steps.end()) {
      window.of = step->name;
      window.from_ns = step->after ? walks.end_ns(*step->after) : 0;
      window.to = step->until;
      if (step->recorded_ps > 0) window.recorded_ns = std::llround(step->recorded_ps / 1000);
    }
    paths.push_back(
        walks.path(window, trace, [&](NodeIndex n, std::uint32_t) { return file.graph.name(n); }));
  }
  return paths;
}

std::vector<StepPath> step_paths(const ChakraRun& run, const ChakraGraph& graph,
                                 const RecordedRun& seen) {
  const GraphWalks walks(graph.graph);
  const std::vector<Window> wholes = walks.wholes();
  std::vector<StepPath> paths;
  for (const RecordedTrace& trace : seen.ranks) {
    const auto name_of = [&](NodeIndex n, std::uint32_t rank) -> std::string_view {
      const std::span<const ChakraGraph::Member> members = graph.members_of(n);
      for (const ChakraGraph::Member& member : members) {
        if (run[member.node.rank].rank == static_cast<std::int64_t>(rank)) {
          return run[member.node.rank].trace.nodes[member.node.node].name;
        }
      }
      return members.empty()
                 ? std::string_view("before the first operation")
                 : std::string_view(
                       run[members[0].node.rank].trace.nodes[members[0].node.node].name);
    };
    const Window window = whole_of(wholes, trace.rank);
    StepPath path = walks.path(window, trace, name_of);
    if (seen.source == RunSource::execution_trace) path.recorded_ns = path.end_ns - path.start_ns;
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace orrery
