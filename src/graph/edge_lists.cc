#include "graph/edge_lists.h"

#include <limits>

namespace orrery {

TopologicalOrder topological_order(const EdgeLists& successors) {
  constexpr std::uint32_t kNotYet = std::numeric_limits<std::uint32_t>::max();
  const auto nodes = static_cast<std::uint32_t>(successors.nodes());
  std::vector<std::uint32_t> waits_for(nodes, 0);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    for (const std::uint32_t to : successors[n]) ++waits_for[to];
  }
  TopologicalOrder order;
  order.nodes.reserve(nodes);
  order.position.assign(nodes, kNotYet);
  const auto place = [&](std::uint32_t node) {
    order.position[node] = static_cast<std::uint32_t>(order.nodes.size());
    order.nodes.push_back(node);
  };
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (waits_for[n] == 0) place(n);
  }
  std::uint32_t next_forced = 0;
  for (std::size_t done = 0; done < nodes; ++done) {
    if (done == order.nodes.size()) {
      while (order.position[next_forced] != kNotYet) ++next_forced;
      place(next_forced);
      order.circular = true;
    }
    for (const std::uint32_t to : successors[order.nodes[done]]) {
      if (order.position[to] == kNotYet && --waits_for[to] == 0) place(to);
    }
  }
  return order;
}

}  // namespace orrery
