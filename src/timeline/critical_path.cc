#include "timeline/critical_path.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// Calls `add(node, source)` for all that every node waits for.
template <class Add>
void each_source(const Graph& graph, const Add& add) {
  std::vector<std::uint32_t> last(graph.streams().size(), kNoNode);
  const auto follow = [&](std::uint32_t node, StreamIndex s) {
    if (graph.streams()[s.value()].role == StreamRole::wire) return;
    const std::uint32_t before = std::exchange(last[s.value()], node);
    if (before != kNoNode) add(node, before);
  };
  auto rendezvous = graph.rendezvous().begin();
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    follow(i, graph.stream(n));
    for (const std::uint32_t p : graph.predecessors(n)) add(i, p);
    if (rendezvous == graph.rendezvous().end() || rendezvous->first != n) continue;
    for (const StreamIndex s : rendezvous->second) follow(i, s);
    ++rendezvous;
  }
}

StretchCause cause_of(const PathLabel& from, const PathLabel& to, bool awaited) {
  if (from.rank != to.rank) return StretchCause::rank;
  if (to.on_host) return from.on_host ? StretchCause::other_thread : StretchCause::device;
  if (from.on_host) return StretchCause::launch;
  return awaited ? StretchCause::other_stream : StretchCause::room;
}

}  // namespace

CriticalChains::CriticalChains(const Graph& graph, Timeline timeline)
    : end_ps_(std::move(timeline.end_ps)),
      sources_(graph.size(), [&](const auto& add) { each_source(graph, add); }) {}

std::int64_t CriticalChains::end_ns(std::size_t node) const {
  return std::llround(end_ps_[node] / 1000);
}

std::vector<ChainNode> CriticalChains::up_to(std::uint32_t last, std::int64_t from_ns) const {
  std::vector<ChainNode> chain;
  std::int64_t until = end_ns(last);
  std::uint32_t node = last;
  // Sources of a run whose cycles were broken could lead in circles: no chain is longer than this.
  while (until > from_ns && node != kNoNode && chain.size() < end_ps_.size()) {
    std::uint32_t source = kNoNode;
    for (const std::uint32_t candidate : sources_[node]) {
      if (source == kNoNode || end_ps_[candidate] > end_ps_[source]) source = candidate;
    }
    const std::int64_t begin = source == kNoNode ? from_ns : std::max(from_ns, end_ns(source));
    chain.push_back({node, until - begin});
    until = begin;
    node = source;
  }
  std::ranges::reverse(chain);
  return chain;
}

void PathCollection::add(const PathLabel& label, std::int64_t ns) {
  if (ns > 0) {
    if (!before_ || before_->place != label.place) begin_stretch(label);
    before_ = label;
    awaited_ = false;
    PathStretch& stretch = path_.stretches.back();
    stretch.end_ns += ns;
    ++stretch.operations;
    ++path_.operations;
    path_.length_ns += ns;
    const auto bound = static_cast<std::size_t>(label.bound);
    path_.by_bound_ns[bound] += ns;
    if (label.rank != path_.rank) path_.on_others_ns[bound] += ns;
    ranks_[label.rank] += ns;
    const Key key(label.rank, label.name, label.bound);
    in_stretch_[key] += ns;
    Sum& sum = names_[key];
    ++sum.count;
    sum.total_ns += ns;
  }
  awaited_ = awaited_ || label.awaited;
}

void PathCollection::begin_stretch(const PathLabel& label) {
  close_stretch();
  path_.stretches.push_back(
      {.rank = label.rank,
       .on = label.on,
       .cause = before_ ? cause_of(*before_, label, awaited_) : StretchCause::window,
       .begin_ns = path_.length_ns,
       .end_ns = path_.length_ns,
       .operations = 0,
       .longest = {},
       .bound = label.bound});
}

void PathCollection::close_stretch() {
  if (in_stretch_.empty()) return;
  const auto longest = std::ranges::max_element(
      in_stretch_, [](const auto& a, const auto& b) { return a.second < b.second; });
  path_.stretches.back().longest = std::get<1>(longest->first);
  path_.stretches.back().bound = std::get<2>(longest->first);
  in_stretch_.clear();
}

StepPath PathCollection::path() {
  close_stretch();
  for (const auto& [rank, ns] : ranks_) path_.ranks.push_back({rank, ns});
  for (const auto& [key, sum] : names_) {
    const auto& [rank, name, bound] = key;
    path_.names.push_back({std::string(name), bound, rank, sum.count, sum.total_ns});
  }
  const auto longer = [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; };
  std::ranges::stable_sort(path_.ranks, longer);
  std::ranges::stable_sort(path_.names, longer);
  return std::move(path_);
}

}  // namespace orrery
