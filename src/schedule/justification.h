// Justification: moves the passes of complete orders into the gaps of their devices.
//
// To the left: in the order of their starts, every pass is put into the earliest gap of its device
// in which its inputs are available, which is after the previous pass of the same kind and chunk,
// and which keeps the memory of all later passes within the limit. No pass starts later than
// before, so the makespan cannot grow. To the right: the same from the end. Alternating both is
// forward-backward improvement (Tormos and Lova 2001) and, applied to the stable repetition of a
// building block, the reordering of warm-up and cool-down of arXiv 2405.15362.
//
// Cost: O(n log n) for n passes and few gaps. Contention of transfers is ignored while moving.
#pragma once

#include "schedule/order_problem.h"

namespace orrery {

// Repeats right and left until the makespan no longer falls, at most `rounds` times. `orders` must
// be complete and within the limits; the result is never worse.
PassOrders justified(const OrderProblem& problem, const PassOrders& orders, int rounds = 8);

}  // namespace orrery
