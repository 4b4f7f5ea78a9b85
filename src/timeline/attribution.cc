#include "timeline/attribution.h"

#include <algorithm>
#include <array>
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
      if (graph.stream_of(n).role == StreamRole::wire) continue;
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

// The classes of a graph's categories, by index.
class Classes {
 public:
  explicit Classes(const Graph& graph) {
    const std::span<const CategoryLabel> labels = graph.categories();
    ORRERY_INVARIANT(labels.size() <= kMostCategories);
    for (std::size_t c = labels.size(); c-- > 0;) {
      of_[c] = labels[c].kind;
      if (of_[c] == CategoryClass::idle) idle_ = CategoryIndex(c);
    }
  }
  [[nodiscard]] CategoryClass operator()(CategoryIndex c) const {
    return of_[static_cast<std::size_t>(c)];
  }
  [[nodiscard]] bool is_communication(CategoryIndex c) const {
    return (*this)(c) == CategoryClass::communication || (*this)(c) == CategoryClass::transfer;
  }
  // Where the time is booked in which nothing runs.
  [[nodiscard]] CategoryIndex idle() const { return idle_; }

 private:
  std::array<CategoryClass, kMostCategories> of_{};
  CategoryIndex idle_{};
};

}  // namespace

Breakdown attribute(const Graph& graph, const Timeline& timeline, std::uint32_t rank_class,
                    std::span<const Breakdown> blocks) {
  return attribute(graph, timeline, rank_class, blocks, Picoseconds(0), timeline.makespan);
}

Breakdown attribute(const Graph& graph, const Timeline& timeline, std::uint32_t rank_class,
                    std::span<const Breakdown> blocks, Picoseconds from, Picoseconds until) {
  const StreamOrder order(graph);
  const Classes classes(graph);
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
            cause == kNone || (!classes.is_communication(graph.category(NodeIndex(cause))) &&
                               classes.is_communication(graph.category(NodeIndex(p))));
        if (better) cause = p;
      };
      for (const std::uint32_t p : graph.predecessors(NodeIndex(node))) consider(p);
      order.before(node, consider);
      if (cause == kNone) break;
      const CategoryIndex category = graph.category(NodeIndex(cause));
      const double start = idle_until - graph.durations()[cause];
      // What its host does for this rank is named as well.
      // What another rank does, apart from sending to this one, is none of this rank's
      // communication: waiting for it is bubble, whether it computes or communicates.
      const bool mine = graph.stream_of(NodeIndex(cause)).rank_class == rank_class;
      const bool outside = classes(category) == CategoryClass::communication ||
                           classes(category) == CategoryClass::host;
      const bool communicates = classes(category) == CategoryClass::transfer || (mine && outside);
      if (!communicates && start < idle_until) break;
      const double covered = idle_until - std::max(start, idle_from);
      if (covered > 0) out[category] += Picoseconds(covered);
      idle_until = std::max(start, idle_from);
      node = cause;
    }
    if (idle_until > idle_from) out[classes.idle()] += Picoseconds(idle_until - idle_from);
  };

  double now = from.count();
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    const auto mine = [&](StreamIndex s) {
      const Stream& stream = graph.streams()[s.value()];
      return stream.rank_class == rank_class && stream.role == StreamRole::compute;
    };
    const auto others = graph.rendezvous_streams(n);
    if (!mine(graph.stream(n)) && std::none_of(others.begin(), others.end(), mine)) continue;
    const double end = timeline.end_ps[i];
    const double start = end - graph.durations()[i];
    if (start > now) book_gap(now, i);
    if (graph.kind(n) == NodeKind::block) {
      const Breakdown& block = blocks[graph.operation(n).block];
      ORRERY_DEBUG_INVARIANT(block.total() == graph.duration(n));
      out += block;
    } else {
      out[graph.category(n)] += Picoseconds(end - start);
    }
    now = end;
  }
  if (until.count() > now) out[classes.idle()] += Picoseconds(until.count() - now);
  return out;
}

}  // namespace orrery
