#include "simulate/simulate.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery {

Timeline simulate(const Graph& graph) { return simulate(graph, graph.durations()); }

Timeline simulate(const Graph& graph, std::span<const double> durations) {
  const std::size_t nodes = graph.size();
  ORRERY_INVARIANT(durations.size() == nodes);
  Timeline timeline;
  timeline.end_ps.resize(nodes);
  double* const end = timeline.end_ps.data();
  std::vector<double> stream_end(graph.streams().size(), 0.0);
  // What a node leaves of its end on its stream: all, or on a wire nothing.
  std::vector<double> taken;
  for (const Stream& s : graph.streams()) taken.push_back(s.role == StreamRole::wire ? 0.0 : 1.0);

  double makespan = 0;
  auto rendezvous = graph.rendezvous().begin();
  for (std::size_t i = 0; i < nodes; ++i) {
    const NodeIndex n(i);
    double& last = stream_end[graph.stream(n).value()];
    double start = last;
    for (const std::uint32_t p : graph.predecessors(n)) start = std::max(start, end[p]);
    if (rendezvous != graph.rendezvous().end() && rendezvous->first == n) {
      for (const StreamIndex s : rendezvous->second) start = std::max(start, stream_end[s.value()]);
      for (const StreamIndex s : rendezvous->second) {
        stream_end[s.value()] = (start + durations[i]) * taken[s.value()];
      }
      ++rendezvous;
    }
    end[i] = start + durations[i];
    last = end[i] * taken[graph.stream(n).value()];
    makespan = std::max(makespan, end[i]);
  }
  timeline.makespan = Picoseconds(makespan);
  return timeline;
}

}  // namespace orrery
