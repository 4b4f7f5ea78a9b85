// Branch and bound over the orders of a small problem.
//
// Bisects between the best known makespan and the proven lower bound by deciding whether some order
// ends by a time T. Each decision is a depth-first search in the order of time: the device that is
// free first runs any pass that is ready, or waits. These branches are cut:
//   - states in which the remaining passes, the return to the first stage, or the round trips that
//     memory allows do not fit before T
//   - a wait in which another ready pass (no forward, unless memory does not matter) would have
//     fitted, and a weight gradient before a pass that was ready when it began: swapping them is no
//     worse
//   - states seen before at this time or an earlier one (by a 64-bit fingerprint)
// Deterministic for a node budget. Not modelled: contention of transfers, which take their time and
// latency only. Orders found are therefore measured again; contention only adds time, so the bounds
// hold with it too. Source: our own. Checked in: exact_search_test.cc against exhaustive search.
#pragma once

#include <cstdint>
#include <functional>

#include "schedule/order_problem.h"

namespace orrery {

struct ExactOptions {
  std::int64_t node_budget = 10'000'000;
  double upper = 0;                         // a makespan that is known to be possible
  double lower = 0;                         // a known lower bound of the makespan
  std::function<bool()> stop;               // called regularly; true: stop
  std::function<void(std::int64_t)> nodes;  // called regularly with the nodes so far
};

struct ExactResult {
  PassOrders orders;  // with a makespan below `upper`; empty: none was found
  double lower = 0;   // no order of the problem has a shorter makespan
  std::int64_t nodes = 0;
};

ExactResult exact_search(const OrderProblem& problem, const ExactOptions& options);

}  // namespace orrery
