// Orders of ZB-V (arXiv 2401.10241), for given times and memory; zb_v_orders.cc has the heuristic.
#pragma once

#include "schedule/order_problem.h"

namespace orrery {

// For two chunks per device in a V. Empty if the heuristic finds none within the limits.
PassOrders zb_v_orders(const OrderProblem& problem);

}  // namespace orrery
