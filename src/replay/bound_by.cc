#include "replay/bound_by.h"

#include <ranges>

#include "trace/recorded_time.h"

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

}  // namespace

std::vector<BoundBy> bound_by(const RunGraph& graph, const ReplayedRun& replayed) {
  const CriticalChains chains = critical_chains(graph, replayed);
  std::vector<BoundBy> result;
  result.reserve(graph.steps.size());
  for (const RunStep& step : graph.steps) {
    BoundBy parts;
    const std::int64_t from = step.from == kNoEvent ? 0 : replayed.end_ns[step.from];
    const std::vector<ChainNode> chain = chains.up_to(step.to, from);
    for (const ChainNode& one : std::views::reverse(chain)) {
      part_of(parts, graph.nodes[one.node], step.trace) += seconds_of_ns(one.ns);
    }
    result.push_back(parts);
  }
  return result;
}

}  // namespace orrery
