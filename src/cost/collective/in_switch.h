// Time of a collective whose reduction and multicast are done by the scale-up switch (NVLink
// SHARP), with a tree between nodes if there are several ("NVLS" and "NVLS tree" of NCCL).
//
//   all-reduce, one node:  t = step + 2 f / r + (n - f) / r,    r = e b g/(g+1)
//   all-gather, reduce-scatter, one node:  t = step + n / (e b)
//   all-reduce, N nodes:   t = step + 2 d network_step
//                              + f (2 / r + 2 d / (w/2)) + (n - f) / min(r, w/2),  d = floor(log2 N)
//
// f bytes are in flight: what C channels send for g ranks, a chunk each, before the next stage
// begins. The first of them pass every stage (reduced, up the tree, down, sent back), the others
// follow behind the slowest. A chunk has 128 KiB, 64 from four nodes on, and less where the payload
// is but a few of them. g members per node, b their scale-up bandwidth (B/s), e the efficiency of
// in-switch operations, w a node's bandwidth into the network (doubled for two nodes, which
// exchange rather than relay), limited by channels * tree_per_channel. Each rank sends its n once
// and receives its 1/g of the sums, so it sends less than a ring, 2(g-1)/g, from three ranks on.
// Only Simple exists.
//
// Source: NCCL graph/tuning.cc (e, steps, the factor 2 at two nodes, gather and scatter) and
// enqueue.cc, calcCollChunking (chunks); Klenk et
// al. 2020 "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives"
// for the traffic n (1 + 1/g). NCCL's own tuner promises 2 e b (C-1)/C, more than measured
// (validation/kernels/nccl-collectives-measured.csv); the traffic form is used instead.
// Between nodes of more than 32 ranks it is not used: the library has no more heads than that in one
// switch (NCCL device.h, NCCL_MAX_NVLS_ARITY). Two racks of GB200, 64 ranks each, all-reduce at the
// rate of a ring, 0.72 of what the tree would give (validation/kernels/nccl-multinode-measured.csv).
// Not modelled: in-network reduction between nodes.
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Returns an infinite time where the fabric cannot reduce or the library would not use it.
Seconds in_switch_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                       Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
