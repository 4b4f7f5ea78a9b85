#include "trace/sorted_events.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace orrery {
namespace {

template <class T>
void permute(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
  std::vector<T> sorted(column.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
  column = std::move(sorted);
}

}  // namespace

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
  permute(trace.start_ns, order);
  permute(trace.duration_ns, order);
  permute(trace.correlation, order);
  permute(trace.external_id, order);
  permute(trace.name, order);
  permute(trace.lane, order);
  permute(trace.details, order);
  permute(trace.communication, order);
  permute(trace.place, order);
  permute(trace.kind, order);
  if (trace.forward_to_backward.empty()) return;

  std::vector<std::uint32_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<std::uint32_t>(i);
  for (auto& arrow : trace.forward_to_backward) {
    for (std::uint32_t& event : arrow) event = position[event];
  }
}

}  // namespace orrery
