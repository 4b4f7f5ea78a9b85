// Local improvement of orders.
//
// improve: simulated annealing on the critical path. A move puts one pass at another place in the
// order of its device; passes of one kind and chunk stay in the order of microbatches, and memory
// stays within the limit. Most moves change a pass on the critical path, since no other can shorten
// it (van Laarhoven et al. 1992, for the job shop). The objective is the makespan with a small
// weight of the span.
//
// perturbed: list schedules that follow the starts of the orders, with noise in a window of time,
// and justified; kept if not longer. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <functional>

#include "schedule/order_problem.h"

namespace orrery {

// No order of the problem has a shorter makespan or a shorter span of its busiest device.
struct OrderBound {
  double makespan = 0;
  double span = 0;
};
OrderBound order_bound(const OrderProblem& problem);

struct ImprovementOptions {
  std::int64_t placements = 1'000'000;  // passes placed in total; each move places every pass
  std::uint64_t seed = 1;
  OrderBound enough;           // stop when both are reached
  std::function<bool()> stop;  // called regularly; true: stop
};

// The best orders found, never worse than the given ones, which must be complete.
PassOrders improve(const OrderProblem& problem, PassOrders orders,
                   const ImprovementOptions& options);
PassOrders perturbed(const OrderProblem& problem, PassOrders orders,
                     const ImprovementOptions& options);

// Alternates perturbed() and improve() with justification for eight rounds or until `done`. Each of
// these 16 calls has a sixteenth of the placements. `consider` is called with every result, from
// which the next goes on.
void improve_in_rounds(const OrderProblem& problem, PassOrders orders, ImprovementOptions options,
                       const std::function<bool()>& done,
                       const std::function<void(const PassOrders&)>& consider);

}  // namespace orrery
