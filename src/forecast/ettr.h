// Closed forms of how much of a run is training: its effective training time ratio,
//
//   ETTR = R / W,   W = Q + R + U,
//
// with R the productive time, Q the time queued and U the unproductive time (rework since the last
// checkpoint, and restarts) of the wall-clock time W (arXiv 2410.21680, section II; the time of an
// allocation that does not queue is the same with Q = 0). With L the failures of the whole job a
// second, u0 the restart, D the interval of checkpoints (of productive time) and w the time that
// one stops training:
//
//   exact      L D exp(-L u0) / (exp(L (D + w)) - 1)                   (renewal; Daly 2006, eq. 12)
//
// The form holds for exponential failures, which may also strike during saves and restarts, and for
// blocking saves. The intervals that make the ETTR largest:
//
//   Young      sqrt(2 w / L)                                           (Young 1974; RSC)
//   exact      D with L D = 1 - exp(-L (D + w)),                       (d exact / dD = 0)
//
// neither of which depends on u0. Left out here and simulated in run_simulation.h: asynchronous and
// multi-level checkpoints, clustered failures, spares, evaluation.
#pragma once

#include <cstdint>
#include <optional>

#include "units/quantity.h"

namespace orrery {

struct CheckpointedJob {
  Hertz failures;    // of the whole job
  Seconds restart;   // u0
  Seconds interval;  // D
  Seconds save;      // w
};

Seconds mean_time_to_failure(std::int64_t nodes, Hertz rate_of_node);

double exact_ettr(const CheckpointedJob& job);

Seconds young_interval(Hertz failures, Seconds save);
Seconds best_interval(Hertz failures, Seconds save);

// The largest interval with which exact_ettr() is at least that; nothing if there is none.
std::optional<Seconds> largest_interval(CheckpointedJob job, double ettr);
// The largest failure rate with which it is; nothing if saves alone take more.
std::optional<Hertz> largest_failure_rate(CheckpointedJob job, double ettr);

}  // namespace orrery
