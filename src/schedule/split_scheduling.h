// List scheduling of split passes: every device, when free, starts the ready pass of lowest rank.
//
// Decisions are made in the order of their time, so everything sent to a device is known. A forward
// is ready only if its memory fits and the remaining memory lets the most advanced microbatch of
// this device run its remaining chunks. That microbatch then ends and frees its memory, so no
// memory limit that suffices for one microbatch can cause a deadlock.
//
// Cost: O(n v log n) for n passes of v chunks per device. Deterministic.
#pragma once

#include <optional>
#include <vector>

#include "schedule/order_problem.h"

namespace orrery {

struct ListRule {
  // By kind: [virtual stage * microbatches + j]; lower is preferred. Times, or slots of a pattern.
  std::vector<float> rank[3];
  // A device that could start another pass waits for one of lower rank if that arrives within this.
  double patience = 0;
  // A weight gradient is started only if nothing else is ready and it ends before the next known
  // arrival, unless memory is short. False: by its rank, like the others.
  bool weights_fill = true;
};

// Empty: the limit is too small for one microbatch, or the ranks of a device wait for each other.
std::optional<PassOrders> list_schedule(const OrderProblem& problem, const ListRule& rule);

enum class ListVariants { first, all };
// List schedules by the rule with no patience and with that of one forward, each with
// `weights_fill` true and false; `first`: without patience and with `weights_fill`.
std::vector<PassOrders> list_schedules(const OrderProblem& problem, ListRule rule,
                                       ListVariants variants = ListVariants::all);

// A rule whose ranks are the starts of the given orders.
ListRule rule_of(const OrderProblem& problem, const PassOrders& orders, const PassTimes& times);

}  // namespace orrery
