// Time of a ring collective over P ranks in N nodes.
//
//   t = base + (L^e + (n / w)^e)^(1/e) + (n / P) / c
//   w = B(protocol) * P / s        algorithm bandwidth (B/s); s = 2(P-1) all-reduce, P-1 all-gather
//                                  and reduce-scatter, P broadcast
//   B = LL: min(ceiling, 0.5 b);  LL128: min(0.92 b, channels * ceiling);  Simple: b
//   L = sum over the s hops of their step latency; between nodes, hops inside a node take
//       at least the host's overhead (three times that for Simple)
//   e = latency_overlap with Simple inside a node, where steps partly hide behind transfers; else 1
//
// b (B/s) is CommunicationPath::ring_rate, c local_copy: a ring of few ranks also spends time on
// the rank's own n/P bytes, which no link carries. A Simple all-reduce between nodes with at least
// 64 B per rank and channel has base and L multiplied by plateau_factor. LL and LL128 are used up
// to low_latency_until bytes per rank; there the library switches to Simple although it is slower
// at first, so the time jumps up.
//
// Source: the tuning model of NCCL (graph/tuning.cc), as of 2.2x; the local term is derived from
// validation/kernels/nccl-collectives-measured.csv: with it one b fits 2, 4 and 8 ranks. The
// exponent and the limit are measured there too.
// Not modelled: channels that share a card unevenly, power-of-two effects of chunk sizes.
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Returns an infinite time for all-to-all and for LL128 over PCIe.
Seconds ring_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                  Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
