// Time of a double binary tree all-reduce: chains inside nodes, trees between them.
//
//   t = base + 2 [ sum of hops * step inside nodes + sum of depth * step between ] + f(n) / w
//   w = B / 2,  B: min(0.92 b, channels * ceiling), then LL: min(B / 3.8, ceiling); LL128:
//       min(B * 7/9 in one node, 120/128 across, channels * ceiling)
//
// depth is floor(log2 of the units joined). f(n) = n / correction(n): a measured table of the share
// of bandwidth that a tree reaches at 64 B * 2^i. The published table rises and falls, so n /
// correction is not monotone in n; f is its monotone envelope, the greatest value of any payload up
// to n.
//
// Source: the tuning model of NCCL (graph/tuning.cc): correction table, 3.8, 7/9, 0.92.
// Not modelled: trees that are neither balanced nor split (0.85 of the bandwidth in NCCL).
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// Bytes / correction, monotone.
Bytes corrected_tree_bytes(Bytes payload, Protocol protocol);
// The published correction: the share of bandwidth at this payload.
double tree_correction(Bytes payload, Protocol protocol);

// Share of its links' rate that the protocol leaves a tree over so many nodes.
double tree_protocol_share(Protocol protocol, int nodes);

// Returns an infinite time for all but all-reduce, and for LL128 over PCIe.
Seconds tree_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                  Protocol protocol, const CollectiveParameters& parameters);

}  // namespace orrery
