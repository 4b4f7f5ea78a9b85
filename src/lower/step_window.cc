#include "lower/step_window.h"

#include <algorithm>

namespace orrery {

Picoseconds step_time(std::span<const StepWindow> windows) {
  Picoseconds longest;
  for (const StepWindow& w : windows) longest = std::max(longest, w.until - w.from);
  return longest;
}

bool in_window(const Stream& stream) {
  const auto kind = static_cast<StepStream>(stream.number);
  return stream.role != StreamRole::wire && kind != StepStream::pp_forward &&
         kind != StepStream::pp_backward;
}

std::vector<StepWindow> windows(const StepCosts& step, const StepGraph& graph,
                                const Timeline& timeline) {
  std::vector<StepWindow> out(static_cast<std::size_t>(step.shape.devices),
                              StepWindow{Picoseconds(0), timeline.makespan});
  if (!step.plan.overlap.optimizer) return out;
  std::vector<char> seen(out.size());
  for (std::size_t i = 0; i < graph.graph.size(); ++i) {
    const NodeIndex n(i);
    const Stream& stream = graph.graph.stream_of(n);
    if (!in_window(stream)) continue;
    StepWindow& w = out[stream.rank_class];
    if (seen[stream.rank_class] == 0) w = {timeline.start(graph.graph, n), Picoseconds(0)};
    seen[stream.rank_class] = 1;
    w.from = std::min(w.from, timeline.start(graph.graph, n));
    w.until = std::max(w.until, timeline.end(n));
  }
  return out;
}

}  // namespace orrery
