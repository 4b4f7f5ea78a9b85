// Time of one collective or point-to-point transfer.
//
// Payload conventions (those of nccl-tests): all-reduce: the tensor on each rank; all-gather: the
// gathered result; reduce-scatter: the input; all-to-all: bytes each rank sends in total, its own
// part included. Alpha-beta over the fabric levels the group crosses, with the algorithms (ring,
// tree, hierarchical, in-switch) and protocols (LL, LL128, Simple) a library chooses among: the
// fastest of those allowed is taken, as NCCL's tuner does. A time is never below what the bandwidth
// of the slowest level crossed allows. Time is monotone in payload, and in each bandwidth and
// latency.
#pragma once

#include <vector>

#include "cluster/fabric_level.h"
#include "cost/collective/group_shape.h"
#include "units/quantity.h"

namespace orrery {

enum class CollectiveAlgorithm { ring, tree, hierarchical, in_switch, parallel_trees, pairwise };
enum class Protocol { low_latency, low_latency_128, simple };

// Constants of one accelerator generation, from the catalog, with their source.
struct CollectiveParameters;

struct CollectiveChoice {
  Seconds time;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
};

// A group of one rank takes no time. `levels` go from the inside out, as in the cluster.
CollectiveChoice collective(CollectiveKind kind, Bytes payload, const GroupShape& group,
                            const std::vector<FabricLevel>& levels,
                            const CollectiveParameters& parameters);

// One message between two ranks whose innermost common fabric level is `level`, while the share
// `crossing` of the accelerators of a unit below that level send one out of it.
Seconds point_to_point(Bytes payload, const FabricLevel& level,
                       const CollectiveParameters& parameters, double crossing = 1);

}  // namespace orrery
