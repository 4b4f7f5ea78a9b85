// ZB-V (arXiv 2401.10241).
#pragma once

#include "schedule/order_problem.h"
#include "schedule/schedule.h"

namespace orrery {

// For two chunks a device in a V. Empty: the heuristic finds none within the limits.
PassOrders zb_v_orders(const OrderProblem& problem);

extern const Schedule kZbV;
}  // namespace orrery
