#include "cost/collective/parallel_trees.h"

#include <algorithm>
#include <cstdint>

#include "cost/collective/never.h"

namespace orrery {
namespace {

// Parts that the ranks of one unit send to those of others.
double parts_leaving(int ranks, int unit) {
  std::int64_t out = 0;
  for (std::int64_t d = 1; d < ranks; d *= 2) {
    out += (ranks + d - 1) / (2 * d) * std::min<std::int64_t>({d, unit, ranks - d});
  }
  return static_cast<double>(out);
}

}  // namespace

Seconds parallel_trees_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                            Protocol protocol, const CollectiveParameters& parameters) {
  if (protocol != Protocol::simple || path.node_ranks != 1 ||
      (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter)) {
    return kNever;
  }
  const ParallelTreeParameters& p = parameters.parallel_trees;
  const double ranks = path.ranks;
  Seconds time = p.latency.base.of(protocol) + ranks * p.rank;
  Seconds transfer;
  for (const Crossing& c : path.crossings()) {
    time += static_cast<double>(c.tree_depth) * step_latency(p.latency, c, protocol) / p.overlap;
    const Bytes leaving = payload / ranks * parts_leaving(path.ranks, c.inner);
    transfer = std::max(transfer, leaving / (c.rate * (p.share * c.inner)));
  }
  time += transfer;
  if (parameters.local_copy > BytesPerSecond(0)) time += payload / ranks / parameters.local_copy;
  return time;
}

}  // namespace orrery
