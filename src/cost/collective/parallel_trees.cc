#include "cost/collective/parallel_trees.h"

#include "cost/collective/never.h"

namespace orrery {
Seconds parallel_trees_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                            Protocol protocol, const CollectiveParameters& parameters) {
  if (protocol != Protocol::simple || path.node_ranks != 1 ||
      (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter)) {
    return kNever;
  }
  const ParallelTreeParameters& p = parameters.parallel_trees;
  const double ranks = path.ranks;
  Seconds time = p.latency.base.of(protocol) + ranks * p.rank;
  for (const Crossing& c : path.crossings()) {
    time += static_cast<double>(c.tree_depth) * step_latency(p.latency, c, protocol) / p.overlap;
  }
  time += payload * ((ranks - 1) / ranks) / (path.ring_rate * p.share);
  if (parameters.local_copy > BytesPerSecond(0)) time += payload / ranks / parameters.local_copy;
  return time;
}

}  // namespace orrery
