#include "trace/sorted_events.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace orrery {

void sort_events(RecordedTrace& trace) {
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::tuple(trace.start_ns[a], -trace.duration_ns[a], trace.place[a]) <
           std::tuple(trace.start_ns[b], -trace.duration_ns[b], trace.place[b]);
  };
  bool sorted = true;
  for (std::size_t i = 1; sorted && i < trace.size(); ++i) sorted = !before(i, i - 1);
  if (sorted) return;

  std::vector<std::uint32_t> order(trace.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, before);
  trace.for_each_column([&](auto& column) {
    const auto given = column;
    for (std::size_t i = 0; i < order.size(); ++i) column[i] = given[order[i]];
  });
  if (trace.forward_to_backward.empty()) return;

  std::vector<std::uint32_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<std::uint32_t>(i);
  for (auto& arrow : trace.forward_to_backward) {
    for (std::uint32_t& event : arrow) event = position[event];
  }
}

}  // namespace orrery
