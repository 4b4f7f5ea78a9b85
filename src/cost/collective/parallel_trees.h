// Time of all-gather and reduce-scatter by parallel aggregated trees ("PAT" of NCCL), for groups
// with one rank per node.
//
//   t = base + depth * network_step / overlap + rank * P
//       + max over levels of (n / P) q / (share m b) + (n / P) / c
//   q = sum over d = 1, 2, 4, ... < P of ceil((P - d) / (2 d)) min(d, m, P - d)
//
// depth = floor(log2 P), b the bandwidth of one accelerator into the level (B/s), m the ranks in one
// unit below it, c local copy. The part of every rank goes down a binomial tree: first to the rank
// that is the greatest power of two d further (modulo P), then from those that have it to those half
// as far. Ranks that are d apart exchange ceil((P - d) / (2 d)) parts, and of the ranks of a unit the
// least of d, m and P - d do so with other units. q parts leave a unit in all: P - 1 of a single rank,
// as in a ring, and (P / 2) (log2 m + 1) of half of the ranks, (log2 m + 1) / 2 times what a ring sends
// over that cut. Only Simple exists.
//
// Source: NCCL src/graph/tuning.cc, 2.23 and later: share 0.75, overlap 3.5, rank 2.8 us ("still a
// linear part"); src/transport/generic.cc, ncclTransportPatConnect: the distances; the largest come
// first (Jeaugey, arXiv 2506.20252). No measurement is available, so none of these is fitted. Unlike
// NCCL, this function converts bus to algorithm bandwidth, so that no rank sends faster than its
// link, and counts what crosses each level. Not modelled: several ranks per node (NCCL keeps it off by
// default).
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Returns an infinite time for other collectives, protocols and groups.
Seconds parallel_trees_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                            Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
