#include "timeline/attribution.h"

#include <algorithm>
#include <limits>

#include "outcome/invariant.h"

namespace orrery {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// For every node the nodes before it on its own stream(s), found in one pass.
class StreamOrder {
 public:
  explicit StreamOrder(const Graph& graph) : previous_(graph.size(), kNone) {
    std::vector<std::uint32_t> last(graph.streams().size(), kNone);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const NodeIndex n(i);
      // On a wire no node waits for another.
      if (graph.streams()[graph.stream(n).value()].kind == StreamKind::wire) continue;
      previous_[i] = std::exchange(last[graph.stream(n).value()], i);
      for (const StreamIndex s : graph.rendezvous_streams(n)) {
        more_.push_back({i, std::exchange(last[s.value()], i)});
      }
    }
  }
  template <class Visit>
  void before(std::uint32_t node, Visit visit) const {
    if (previous_[node] != kNone) visit(previous_[node]);
    auto it = std::lower_bound(more_.begin(), more_.end(), node,
                               [](const auto& m, std::uint32_t n) { return m.first < n; });
    for (; it != more_.end() && it->first == node; ++it) {
      if (it->second != kNone) visit(it->second);
    }
  }

 private:
  std::vector<std::uint32_t> previous_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> more_;
};

}  // namespace

Breakdown attribute(const Graph& graph, const Timeline& timeline, std::uint32_t rank_class,
                    std::span<const Breakdown> blocks) {
  return attribute(graph, timeline, rank_class, blocks, Picoseconds(0), timeline.makespan);
}

Breakdown attribute(const Graph& graph, const Timeline& timeline, std::uint32_t rank_class,
                    std::span<const Breakdown> blocks, Picoseconds from, Picoseconds until) {
  const StreamOrder order(graph);
  Breakdown out;

  // Books the time from `from` to the start of `node` on what `node` waited for.
  const auto book_gap = [&](double idle_from, std::uint32_t node) {
    double idle_until = timeline.end_ps[node] - graph.durations()[node];
    while (idle_until > idle_from) {
      // The predecessor that ended last set the start of `node`. Among equals the communication is
      // named, since it is what a user could change.
      std::uint32_t cause = kNone;
      const auto consider = [&](std::uint32_t p) {
        if (timeline.end_ps[p] != idle_until) return;
        const bool better =
            cause == kNone || (!is_exposed_communication(graph.category(NodeIndex(cause))) &&
                               is_exposed_communication(graph.category(NodeIndex(p))));
        if (better) cause = p;
      };
      for (const std::uint32_t p : graph.predecessors(NodeIndex(node))) consider(p);
      order.before(node, consider);
      if (cause == kNone) break;
      const Category category = graph.category(NodeIndex(cause));
      const double start = idle_until - graph.durations()[cause];
      // What another rank does, apart from sending to this one, is none of this rank's
      // communication: waiting for it is bubble, whether it computes or communicates.
      const bool mine =
          graph.streams()[graph.stream(NodeIndex(cause)).value()].rank_class == rank_class;
      const bool communicates =
          is_exposed_communication(category) && (mine || category == Category::exposed_pp);
      if (!communicates && start < idle_until) break;
      const double covered = idle_until - std::max(start, idle_from);
      if (covered > 0) out[category] += Picoseconds(covered);
      idle_until = std::max(start, idle_from);
      node = cause;
    }
    if (idle_until > idle_from) out[Category::bubble] += Picoseconds(idle_until - idle_from);
  };

  double now = from.count();
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const auto mine = [&](StreamIndex s) {
      const Stream& stream = graph.streams()[s.value()];
      return stream.rank_class == rank_class && stream.kind == StreamKind::compute;
    };
    const auto others = graph.rendezvous_streams(n);
    if (!mine(graph.stream(n)) && std::none_of(others.begin(), others.end(), mine)) continue;
    const double end = timeline.end_ps[i];
    const double start = end - graph.durations()[i];
    if (start > now) book_gap(now, i);
    if (graph.kind(n) == NodeKind::block) {
      const Breakdown& block = blocks[graph.payload(n)];
      ORRERY_DEBUG_INVARIANT(block.total() == graph.duration(n));
      out += block;
    } else {
      out[graph.category(n)] += Picoseconds(end - start);
    }
    now = end;
  }
  if (until.count() > now) out[Category::bubble] += Picoseconds(until.count() - now);
  return out;
}

}  // namespace orrery
