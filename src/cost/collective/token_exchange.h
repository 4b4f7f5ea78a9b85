// Time to send tokens to the ranks of their experts, or their results back, by kernels that send a
// token once to each place that needs it (DeepEP, HybridEP, NVLink one- and two-sided exchange).
//
//   D(u)    = u (1 - C(E - E/u, k) / C(E, k))        how many of u equal units hold at least one of
//                                                     a token's k of E experts, routed uniformly
//   D(u, M, G)                                        the same where a token first picks M of G groups
//                                                     of experts and then k of their M E / G experts
//                                                     (node-limited routing, arXiv 2412.19437 s.2.1.2)
//   bytes_l = T w D(U_l) (u_l - 1) / u_l              of one rank over its links of level l
//   t       = L + step + (max over levels l of (bytes_l / (e b[l]))^4 + (T w / c)^4)^(1/4)
//
// T: tokens that a rank sends, w: bytes of one. U_l units below level l that the group spans, u_l
// of them in one unit of level l: a token crosses the network once for each node and is passed on
// inside. b[l] one accelerator's bandwidth (B/s), c the rate at which a rank handles its own
// tokens. e is the efficiency of the kernel inside a node, where the compute units it occupies
// limit it; over network cards e is 1 (the fabric's own efficiency counts). L: launch, notification
// of counts, and the barrier at the end.
//
// A plain all-to-all sends T w k (P - 1) / P, one copy for each expert, which is never less.
// D(u) <= min(u, k), rises with u, and equals k where every unit is one expert.
//
// Source: deepseek-ai/DeepEP README (a token once per node over RDMA, then NVLink); hypergeometric
// distribution for D. L and e: fitted by `orrery calibrate` on deepep-measured.csv and
// nvlink-alltoall-gb200-measured.csv. Not modelled: skew between
// experts (multiply T), 8-bit dispatch (give w), groups that are picked by their scores (random
// instead), copies that fill several rails unevenly.
#pragma once

#include <vector>

#include "cluster/fabric_level.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/group_shape.h"
#include "units/quantity.h"

namespace orrery {

// Of `units` equal sets of experts, how many contain one of `top_k` different random experts.
// Units beyond the number of experts count as one expert each.
double distinct_units(double units, double experts, double top_k, ExpertGroups limit = {});

// Zero for a group of one rank.
Seconds token_exchange_time(const TokenExchange& exchange, const GroupShape& group,
                            const std::vector<FabricLevel>& levels,
                            const CollectiveParameters& parameters);

}  // namespace orrery
