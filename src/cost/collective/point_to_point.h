// Time of one message between two ranks.
//
//   t = min over LL and Simple of  base + step + n / B,  B: LL min(ceiling, b / 2), Simple e b
//
// b (B/s) the bandwidth of the level that joins them, after its efficiency and oversubscription.
//
// Source: NCCL sends by LL below a threshold and by Simple above; latencies are fitted to the
// two-rank rows of validation/kernels/nccl-collectives-measured.csv (all-to-all) and compared with
// validation/kernels/vidur-network-measured.csv (send-recv).
// Not modelled: a message that splits over the cards of other ranks of its node.
#pragma once

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {

// What a pairwise transfer reaches on a link of that rate.
BytesPerSecond pairwise_rate(BytesPerSecond link, Protocol protocol,
                             const CollectiveParameters& parameters);

}  // namespace orrery
