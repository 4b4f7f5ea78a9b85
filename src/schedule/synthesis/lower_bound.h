// A lower bound of the makespan of any order of a problem.
//
// The largest, over devices and virtual stages, of
//   1. the time of the first microbatch until it reaches the device, all passes of the device, and
//      the time after them: what remains of the device's order after each stage's last input
//      gradient, or the return of that gradient to the first stage and the weight gradient there
//   2. the round trip of one microbatch
//   3. memory: at most k = floor(limit / held) microbatches of a stage are between the start of
//      their forward and the end of their input gradient, which takes the round trip from that
//      stage; so ceil(m / k) round trips follow each other (with the weight gradient, where it
//      keeps as much as the forward)
// Source: our own; 1 and 2 are the bounds of arXiv 2401.10241 made exact for unequal stages.
// Checked in: synthesis_test.cc (never above any schedule's makespan).
#pragma once

#include "schedule/order_problem.h"

namespace orrery {

// By virtual stage, without waiting for a device or a link: `head` until its first forward can
// begin; `back` from the end of an input gradient to the end of all; `trip` from the start of a
// forward to the end of the input gradient.
struct Ways {
  explicit Ways(const OrderProblem& problem);
  std::vector<double> head, back, trip;
};

double lower_bound(const OrderProblem& problem);

}  // namespace orrery
