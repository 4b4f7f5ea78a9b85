// Time of a ring collective over P ranks in N nodes.
//
//   t = L + n / w + (n / P) / c
//   w = B(protocol) * P / s        algorithm bandwidth (B/s); s = 2(P-1) all-reduce, P-1 all-gather
//                                  and reduce-scatter, P broadcast
//   B = LL: min(ceiling, 0.5 b);  LL128: min(0.92 b, channels * ceiling);  Simple: b
//   L = base + sum over the s hops of their step latency; between nodes a hop inside a node takes
//       at least the host's overhead (three times that for Simple)
//
// b (B/s) is CommunicationPath::ring_rate, c local_copy: a ring of few ranks also spends time on
// the rank's own n/P bytes, which no link carries. A Simple all-reduce between nodes with at least
// 64 B a rank and channel has its latency multiplied by plateau_factor.
//
// Source: the tuning model of NCCL (graph/tuning.cc), as of 2.2x; the local term is derived from
// validation/kernels/nccl-collectives-measured.csv: with it one b fits 2, 4 and 8 ranks.
// Not modelled: channels that share a card unevenly, power-of-two effects of chunk sizes.
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Infinite for all-to-all and for LL128 over PCIe.
Seconds ring_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                  Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
