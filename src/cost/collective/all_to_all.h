// Time of an all-to-all by direct exchange.
//
//   t = L + max over levels l of n (P - m[l-1]) / P / (e b[l]) + (n / P) / c
//   L = base + step of the outermost level + peers inside a node * peer + messages to other nodes *
//       overhead
//
// n: bytes each rank sends in total, its own part included (B). Of them n (P - m[l-1]) / P leave
// the rank's unit of level l-1, by the rank's own link. b[l] one accelerator's bandwidth (B/s), e
// the efficiency of pairwise exchange, c local copy. Messages to other nodes are either one per
// rank there, P - g, or, when the ranks of a node aggregate for the local rank on the destination's
// rail (NCCL's PXN), one per node, N - 1, for one more step and (g-1)/g of the outgoing bytes more
// on the scale-up links. The shorter of both times counts.
//
// Source: bytes by definition; PXN: NVIDIA developer blog "Doubling all2all performance with NCCL
// 2.12" (2022); latencies and e fitted to validation/kernels/nccl-collectives-measured.csv.
// Valid for uniform payloads; with imbalance, give the payload of the busiest rank. Not modelled:
// de-duplication of tokens per node (give the payload after it).
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Without relays in the node (direct) and with them (aggregated, NCCL's PXN); the same where a node
// has one rank or there is one node.
struct AllToAllTimes {
  Seconds direct;
  Seconds aggregated;
};
AllToAllTimes all_to_all_times(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                               Protocol protocol, const CollectiveParameters& parameters);

// The shorter of both. Infinite for all but all-to-all, and for LL128, which direct exchange does
// not use.
Seconds all_to_all_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                        Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
