#include "replay/bound_by.h"

#include "replay/run_walk.h"

namespace orrery {
namespace {

Seconds& part_of(BoundBy& parts, const RunNode& node, std::uint32_t trace) {
  if (node.trace != trace) return parts.other_ranks;
  switch (node.kind) {
    case RunNodeKind::host:
    case RunNodeKind::call:
      return parts.host;
    case RunNodeKind::latency:
    case RunNodeKind::dispatch:
      return parts.launches;
    case RunNodeKind::work:
      return parts.device;
    case RunNodeKind::arrival:
    case RunNodeKind::rendezvous:
    case RunNodeKind::transfer:
      return parts.communication;
  }
  return parts.host;
}

Seconds from_ns(std::int64_t ns) { return Seconds(static_cast<double>(ns) * 1e-9); }

}  // namespace

std::vector<BoundBy> bound_by(const RunGraph& graph, const ReplayedRun& replayed) {
  const RunWalk walk(graph, replayed);
  std::vector<BoundBy> result;
  result.reserve(graph.steps.size());
  for (const RunStep& step : graph.steps) {
    BoundBy parts;
    const std::int64_t from = step.from == kNoEvent ? 0 : replayed.end_ns[step.from];
    for (const WalkedNode& one : walk.back(step.to, from)) {
      part_of(parts, graph.nodes[one.node], step.trace) += from_ns(one.end_ns - one.begin_ns);
    }
    result.push_back(parts);
  }
  return result;
}

}  // namespace orrery
