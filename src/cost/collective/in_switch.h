// Time of a collective whose reduction and multicast are done by the scale-up switch (NVLink
// SHARP), with a tree between nodes if there are several ("NVLS" and "NVLS tree" of NCCL).
//
//   all-reduce, one node:  t = step + n (1 + 1/g) / (e b)
//   all-gather, reduce-scatter, one node:  t = step + n / (e b)
//   all-reduce, N nodes:   t = step + 2 floor(log2 N) network_step + n / min(e b g/(g+1), w / 2)
//
// g members per node, b their scale-up bandwidth (B/s), e the efficiency of in-switch operations, w
// a node's bandwidth into the network (doubled for two nodes, which exchange rather than relay),
// limited by channels * tree_per_channel. Each rank sends its n once and receives its 1/g of the
// sums, so it sends less than a ring, 2(g-1)/g, from three ranks on. Only Simple exists.
//
// Source: NCCL graph/tuning.cc (e, steps, the factor 2 at two nodes, gather and scatter); Klenk et
// al. 2020 "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives"
// for the traffic n (1 + 1/g). NCCL's own tuner promises 2 e b (C-1)/C, more than measured
// (validation/kernels/nccl-collectives-measured.csv); the traffic form is used instead.
// Not modelled: in-network reduction between nodes.
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Returns an infinite time where the fabric cannot reduce or the library would not use it.
Seconds in_switch_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                       Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
