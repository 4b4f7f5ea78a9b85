#include "cost/collective/parallel_trees.h"

#include "cost/collective/never.h"

namespace orrery {
namespace {

// NCCL graph/tuning.cc: share of bandwidth, steps that overlap, and time for each rank.
constexpr double kShare = 0.75;
constexpr double kOverlap = 3.5;
constexpr Seconds kPerRank{2.8e-6};

}  // namespace

Seconds parallel_trees_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                            Protocol protocol, const CollectiveParameters& parameters) {
  if (protocol != Protocol::simple || path.node_ranks != 1 ||
      (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter)) {
    return kNever;
  }
  const double ranks = path.ranks;
  Seconds time = parameters.parallel_trees.base.of(protocol) + ranks * kPerRank;
  for (const Crossing& c : path.crossings()) {
    time += static_cast<double>(c.tree_depth) *
            step_latency(parameters.parallel_trees, c, protocol) / kOverlap;
  }
  time += payload * ((ranks - 1) / ranks) / (path.ring_rate * kShare);
  if (parameters.local_copy > BytesPerSecond(0)) time += payload / ranks / parameters.local_copy;
  return time;
}

}  // namespace orrery
