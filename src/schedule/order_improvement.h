// Local improvement of orders.
//
// improve: simulated annealing on the critical path. A move takes one pass out of its place in the
// order of its device and puts it elsewhere; passes of one kind and chunk stay in the order of
// microbatches, memory stays within the limit. Most moves touch a pass on the critical path, since
// no other can shorten it (van Laarhoven et al. 1992, for the job shop). The objective is the
// makespan and a little of the span. perturbed: list schedules that follow the starts of the orders
// with noise in a window of time, justified; kept if not longer. Deterministic for a seed.
#pragma once

#include <cstdint>
#include <functional>

#include "schedule/order_problem.h"

namespace orrery {

// No order of the problem ends sooner or has a shorter span of its busiest device.
struct OrderBound {
  double makespan = 0;
  double span = 0;
};
OrderBound order_bound(const OrderProblem& problem);

struct ImprovementOptions {
  std::int64_t placements = 1'000'000;  // passes placed in all: one move costs as many as there are
  std::uint64_t seed = 1;
  OrderBound enough;           // stop when both are reached
  std::function<bool()> stop;  // asked now and then
};

// The best orders found, never worse than the given ones, which must be complete.
PassOrders improve(const OrderProblem& problem, PassOrders orders,
                   const ImprovementOptions& options);
PassOrders perturbed(const OrderProblem& problem, PassOrders orders,
                     const ImprovementOptions& options);

}  // namespace orrery
