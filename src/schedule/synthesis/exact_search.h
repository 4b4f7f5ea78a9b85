// Branch and bound over the orders of a small problem.
//
// Asks again and again whether some order ends by a time T, halving the distance between the best
// known makespan and the proven lower bound. A question is answered by depth-first search in the
// order of time: of the device that is free first, every pass that is ready, or waiting. Cut are
//   - states whose remaining work, ways back to the first stage, or round trips through what memory
//     admits do not fit before T
//   - a wait that another ready pass (no forward, unless memory does not matter) would have fitted
//     into, and a weight gradient before a pass that was ready when it began: swapping is no worse
//   - states seen before at this time or an earlier one (by a 64-bit fingerprint)
// Deterministic for a node budget. Not modelled: contention of transfers: the way takes transfer
// and latency, so what is found is measured again, and what is proven holds a fortiori. Source: our
// own. Checked in: exact_search_test.cc against exhaustive search.
#pragma once

#include <cstdint>
#include <functional>

#include "schedule/order_problem.h"

namespace orrery {

struct ExactOptions {
  std::int64_t node_budget = 10'000'000;
  double upper = 0;                         // a makespan that is known to be possible
  double lower = 0;                         // and one that is known to be the least
  std::function<bool()> stop;               // asked now and then
  std::function<void(std::int64_t)> nodes;  // told now and then
};

struct ExactResult {
  PassOrders orders;  // of a makespan below `upper`; empty: none was found
  double lower = 0;   // no order of the problem ends sooner
  std::int64_t nodes = 0;
};

ExactResult exact_search(const OrderProblem& problem, const ExactOptions& options);

}  // namespace orrery
