// ZB-1p and ZB-2p: the automatic scheduler of arXiv 2401.10241.
#pragma once

#include "schedule/order_problem.h"
#include "schedule/schedule.h"

namespace orrery {

// For one chunk a device, within the limits. Empty: they hold not even one microbatch.
PassOrders zb_automatic_orders(const OrderProblem& problem);

extern const Schedule kZb1p;
extern const Schedule kZb2p;

}  // namespace orrery
