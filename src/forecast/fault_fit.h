// What a log of faults says of a cluster: how often its nodes fail, how the faults cluster in time
// and on nodes, how long repairs take; and the failure rates that follow, for run_simulation.h.
//
//   rate         faults / (nodes x days)
//   dispersion   variance / mean of the faults of a day (of a node): 1 for independent faults that
//                come at one rate, above 1 where they cluster (Cox and Lewis 1966, index of
//                dispersion)
//   lemon nodes  two classes of nodes with faults at two rates x1 < x2, a share s of them at x2: the
//                mixture with the first three moments m_k of the rates over the nodes, which are the
//                factorial moments of the counts, E[n (n - 1) ... (n - k + 1)]. x1 and x2 are the
//                roots of x^2 + a x + b with a = (m3 - m1 m2) / (m1^2 - m2), b = -m2 - a m1 (the
//                two-point Gauss quadrature of those moments), s = (m1 - x1) / (x2 - x1). None
//                where the dispersion over nodes is within three standard errors, sqrt(2 / (N - 1)),
//                of 1
//   repair       sample quantiles of the faults that ended within the window; a log-normal fitted
//                to recorded repairs has too heavy a tail. Faults still open are counted, and their
//                repairs are unknown, so that the mean is too low by them
//   nodes down   mean over the window of the nodes with an open fault, a node once
//
// The rates for run_simulation.h have the lemon nodes, the recorded gaps and the repairs.
//
// Left out: trends, the order of gaps, and what the cause of a fault says about its repair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forecast/failure_rates.h"
#include "forecast/fault_log.h"

namespace orrery {

// The part of a log that is looked at.
struct LogWindow {
  double first_day = 0;
  double last_day = 0;     // exclusive; 0: the whole day after the last event
  std::int64_t nodes = 0;  // of the cluster; 0: those that the log names
};

inline constexpr std::size_t kLeastFaults = 20;

struct FaultFit {
  std::string name;
  double days = 0;
  std::int64_t nodes = 0;
  std::int64_t faults = 0;
  double faults_a_day = 0;
  std::vector<std::int64_t> by_day;  // faults of each whole day
  double days_without = 0;           // share
  double dispersion_by_day = 0;
  std::int64_t nodes_that_failed = 0;
  std::int64_t most_of_a_node = 0;
  double worst_tenth = 0;  // share of the faults on the tenth of the nodes that fails most
  double dispersion_by_node = 0;
  std::vector<Seconds> repairs;  // ascending
  std::int64_t open = 0;         // faults whose repair is not in the window
  double nodes_down = 0;
  FailureRates rates;
};

// Errors: fewer faults than kLeastFaults; a window without days; fewer nodes than fail in it.
Result<FaultFit> fit(const FaultLog& log, const LogWindow& window);

// Of ascending times, linear between order statistics; p in [0, 1].
Seconds quantile_of(const std::vector<Seconds>& ascending, double p);

}  // namespace orrery
