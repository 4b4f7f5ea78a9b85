// The edges of a graph by one of their ends, in the order in which they were given, and an order of
// its nodes in which each stands behind all that lead to it. O(nodes + edges).
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace orrery {

class EdgeLists {
 public:
  // `each_edge(add)` calls `add(at, value)` for every edge, and is asked twice: the values of a
  // node are listed in that order. Values are the other ends of the edges, or whatever the caller
  // needs.
  template <class EachEdge>
  EdgeLists(std::size_t nodes, const EachEdge& each_edge) : offsets_(nodes + 1, 0) {
    each_edge([&](std::uint32_t at, std::uint32_t) { ++offsets_[at + 1]; });
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    values_.resize(offsets_.back());
    std::vector<std::uint32_t> next(offsets_.begin(), offsets_.end() - 1);
    each_edge([&](std::uint32_t at, std::uint32_t value) { values_[next[at]++] = value; });
  }

  [[nodiscard]] std::size_t nodes() const { return offsets_.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t node) const {
    return std::span(values_).subspan(offsets_[node], offsets_[node + 1] - offsets_[node]);
  }

 private:
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> values_;
};

struct TopologicalOrder {
  std::vector<std::uint32_t> nodes;
  std::vector<std::uint32_t> position;  // of a node, in `nodes`
  bool circular = false;  // edges lead in circles: the first node left went ahead of the others
};
// First the nodes that wait for none, then each as soon as all that lead to it stand before it.
TopologicalOrder topological_order(const EdgeLists& successors);

}  // namespace orrery
