#include "simulate/simulate.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery {

Timeline simulate(const Graph& graph) { return simulate(graph, graph.durations()); }

Timeline simulate(const Graph& graph, std::span<const double> durations) {
  Timeline timeline;
  timeline.end_ps.resize(graph.size());
  timeline.makespan = Picoseconds(simulate_lanes<1>(graph, durations, timeline.end_ps)[0]);
  return timeline;
}

template <std::size_t kWidth>
std::array<double, kWidth> simulate_lanes(const Graph& graph, std::span<const double> durations,
                                          std::span<double> ends) {
  using Lanes = std::array<double, kWidth>;
  const std::size_t nodes = graph.size();
  ORRERY_INVARIANT(durations.size() == nodes * kWidth && ends.size() == nodes * kWidth);
  double* const end = ends.data();
  std::vector<Lanes> stream_end(graph.streams().size(), Lanes{});
  // What a node leaves of its end on its stream: all, or on a wire nothing.
  std::vector<double> taken;
  for (const Stream& s : graph.streams()) taken.push_back(s.role == StreamRole::wire ? 0.0 : 1.0);

  Lanes makespan{};
  auto rendezvous = graph.rendezvous().begin();
  const auto next_meeting = [&] {
    return rendezvous == graph.rendezvous().end() ? nodes : rendezvous->first.value();
  };
  std::size_t meeting = next_meeting();
  for (std::size_t i = 0; i < nodes; ++i) {
    const NodeIndex n(i);
    const double* const duration = durations.data() + kWidth * i;
    const std::size_t stream = graph.stream(n).value();
    Lanes& last = stream_end[stream];
    Lanes time = last;  // the start, and then the end
    const auto wait_for = [&time](const double* other) {
      for (std::size_t k = 0; k < kWidth; ++k) time[k] = std::max(time[k], other[k]);
    };
    const auto leave = [&time](Lanes& left, double share) {
      for (std::size_t k = 0; k < kWidth; ++k) left[k] = time[k] * share;
    };
    for (const std::uint32_t p : graph.predecessors(n)) wait_for(end + kWidth * p);
    if (i == meeting) {
      for (const StreamIndex s : rendezvous->second) wait_for(stream_end[s.value()].data());
    }
    for (std::size_t k = 0; k < kWidth; ++k) {
      time[k] += duration[k];
      makespan[k] = std::max(makespan[k], time[k]);
      end[kWidth * i + k] = time[k];
    }
    leave(last, taken[stream]);
    if (i == meeting) {
      for (const StreamIndex s : rendezvous->second) leave(stream_end[s.value()], taken[s.value()]);
      ++rendezvous;
      meeting = next_meeting();
    }
  }
  return makespan;
}

template std::array<double, kLanes> simulate_lanes<kLanes>(const Graph&, std::span<const double>,
                                                           std::span<double>);

}  // namespace orrery
