// Time of all-gather and reduce-scatter by parallel aggregated trees ("PAT" of NCCL), for groups
// with one rank per node.
//
//   t = base + depth * network_step / overlap + rank * P
//       + n / (share b) * (P - 1) / P + (n / P) / c
//
// depth = floor(log2 P), b the network bandwidth of one accelerator (B/s), c local copy.
// Only Simple exists.
//
// Source: NCCL src/graph/tuning.cc, 2.23 and later: share 0.75, overlap 3.5, rank 2.8 us ("still a
// linear part"). No measurement is available, so none of these is fitted. Unlike NCCL, this
// function converts bus to algorithm bandwidth, so that no rank sends faster than its link. Not
// modelled: several ranks per node (NCCL keeps it off by default).
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Returns an infinite time for other collectives, protocols and groups.
Seconds parallel_trees_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                            Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
