#include "schedule/bubble.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

std::string_view name(IdleCause cause) {
  switch (cause) {
    case IdleCause::fill:
      return "fill";
    case IdleCause::drain:
      return "drain";
    case IdleCause::dependency:
      return "dependency";
    case IdleCause::communication:
      return "communication";
    case IdleCause::imbalance:
      return "imbalance";
  }
  return "?";
}

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kActions = 11;

// The execution without communication, and its chains of waiting.
class IdleWalk {
 public:
  explicit IdleWalk(const PipelineExecution& execution)
      : graph_(execution.graph.graph),
        duration_(graph_.durations().begin(), graph_.durations().end()),
        before_(graph_.size(), kNone),
        slow_share_(graph_.size(), 0) {
    std::vector<std::uint32_t> last(graph_.streams().size(), kNone);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      if (graph_.kind(NodeIndex(i)) != NodeKind::kernel) duration_[i] = 0;
      const std::size_t stream = graph_.stream(NodeIndex(i)).value();
      if (graph_.streams()[stream].kind == StreamKind::wire) continue;
      before_[i] = last[stream];
      last[stream] = static_cast<std::uint32_t>(i);
    }
    timeline_ = simulate(graph_, duration_);
    find_slow(execution.graph);
  }

  [[nodiscard]] Picoseconds end(NodeIndex n) const { return timeline_.end(n); }
  [[nodiscard]] Picoseconds start(NodeIndex n) const {
    return timeline_.end(n) - Picoseconds(duration_[n.value()]);
  }
  [[nodiscard]] Picoseconds makespan() const { return timeline_.makespan; }

  // What [from, to) was waited for, if the chain ends with `node` at `to`. `rest` takes what is no
  // imbalance.
  void attribute(NodeIndex node, Picoseconds from, Picoseconds to, IdleCause rest,
                 IdleTime& out) const {
    std::uint32_t at = node.value();
    while (to > from && at != kNone) {
      const NodeIndex n(at);
      const Picoseconds begin = std::max(start(n), from);
      if (begin < to) {
        const Picoseconds covered = to - begin;
        const Picoseconds slow(std::floor(covered.count() * slow_share_[at]));
        out[IdleCause::imbalance] += slow;
        out[rest] += covered - slow;
        to = begin;
      }
      at = waited_for(n);
    }
    out[rest] += std::max(to - from, Picoseconds(0));
  }

  // The node at whose end this one could start: the one before on its stream if that was it.
  [[nodiscard]] std::uint32_t waited_for(NodeIndex n) const {
    const std::uint32_t before = before_[n.value()];
    if (before != kNone && end(NodeIndex(before)) == start(n)) return before;
    for (const std::uint32_t p : graph_.predecessors(n)) {
      if (end(NodeIndex(p)) == start(n)) return p;
    }
    return kNone;
  }

 private:
  // The share of each operation's time that is above the mean of its kind.
  void find_slow(const PipelineGraph& pipeline) {
    std::array<double, kActions> sum{};
    std::array<double, kActions> count{};
    for (std::size_t i = 0; i < pipeline.operations.size(); ++i) {
      const auto a = static_cast<std::size_t>(pipeline.operations[i].operation.action);
      sum[a] += graph_.duration(pipeline.nodes[i]).count();
      ++count[a];
    }
    for (std::size_t i = 0; i < pipeline.operations.size(); ++i) {
      const auto a = static_cast<std::size_t>(pipeline.operations[i].operation.action);
      const double time = graph_.duration(pipeline.nodes[i]).count();
      const double mean = sum[a] / count[a];
      // Equal times must not differ from their mean by rounding.
      if (time > mean * (1 + 1e-12)) slow_share_[pipeline.nodes[i].value()] = (time - mean) / time;
    }
  }

  const Graph& graph_;
  std::vector<double> duration_;
  Timeline timeline_;
  std::vector<std::uint32_t> before_;  // on the same stream
  std::vector<double> slow_share_;
};

}  // namespace

std::vector<IdleTime> idle_by_cause(const Pipeline& pipeline, const PipelineExecution& execution) {
  const IdleWalk walk(execution);
  const Graph& graph = execution.graph.graph;
  const auto devices = static_cast<std::size_t>(pipeline.shape.devices);
  std::vector<IdleTime> out(devices);
  std::vector<Picoseconds> free(devices);
  std::vector<char> begun(devices);
  NodeIndex last{};
  bool ended = false;
  for (std::size_t i = 0; i < execution.graph.nodes.size(); ++i) {
    const NodeIndex n = execution.graph.nodes[i];
    if (graph.kind(n) != NodeKind::kernel) continue;
    const std::size_t d = execution.graph.operations[i].device;
    const Picoseconds start = walk.start(n);
    if (start > free[d]) {
      const std::uint32_t before = walk.waited_for(n);
      const IdleCause rest = begun[d] == 0 ? IdleCause::fill : IdleCause::dependency;
      if (before == kNone) {
        out[d][rest] += start - free[d];
      } else {
        walk.attribute(NodeIndex(before), free[d], start, rest, out[d]);
      }
    }
    begun[d] = 1;
    free[d] = walk.end(n);
    if (!ended && walk.end(n) == walk.makespan()) {
      last = n;
      ended = true;
    }
  }
  for (std::size_t d = 0; d < devices; ++d) {
    if (walk.makespan() > free[d]) {
      walk.attribute(last, free[d], walk.makespan(), IdleCause::drain, out[d]);
    }
    out[d][IdleCause::communication] = execution.measures.makespan - walk.makespan();
  }
  return out;
}

}  // namespace orrery
