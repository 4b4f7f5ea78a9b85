// The automatic scheduler of arXiv 2401.10241, of which ZB-1p and ZB-2p are orders;
// zb_automatic_orders.cc has its rules.
#pragma once

#include "schedule/order_problem.h"

namespace orrery {

// For one chunk per device, within the limits. Empty if these do not allow even one microbatch.
PassOrders zb_automatic_orders(const OrderProblem& problem);

}  // namespace orrery
