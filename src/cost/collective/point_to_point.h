// Time of one message between two ranks.
//
//   t = base + step + n / b
//
// base and step are those of pairwise LL (a small message), or of Simple over a level that does not
// deliver in order, b (B/s) the bandwidth of the level that
// joins the ranks, after its efficiency and oversubscription. Unlike the peers of an all-to-all,
// a single message has the link to itself, so its rate does not ramp up.
//
// Source: form: Hockney 1994 (latency and bandwidth); latencies are fitted to the two-rank
// all-to-all of validation/kernels/nccl-collectives-measured.csv; not fitted, but compared:
// send-recv of validation/kernels/vidur-network-measured.csv (docs/models/collectives.md). Not
// modelled: a message that splits over the cards of other ranks of its node.
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// The rate that one protocol of an all-to-all reaches over that crossing: the full rate of the
// network card between nodes, a share of the links inside a node.
BytesPerSecond pairwise_rate(const Crossing& crossing, Protocol protocol,
                             const CollectiveParameters& parameters);

}  // namespace orrery
