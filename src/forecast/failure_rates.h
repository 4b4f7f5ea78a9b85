// How often the nodes of a cluster fail, how that varies, and how long a repair takes: a fact of
// catalog/failures, or a fit of a log of faults (fault_fit.h).
//
//   rate of a job = nodes x rate of a node,   MTTF = 1 / (nodes x rate of a node)
//
// A rate counts what stops a job: in the RSC clusters, node failures and failed critical health
// checks per node-day of jobs of more than 128 GPUs (arXiv 2410.21680, section III). A node stands
// for `accelerators_per_node` accelerators; other servers are scaled by their accelerators.
// Left out: rates that fall with the age of a cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "document/provenance.h"
#include "forecast/time_law.h"

namespace orrery {

struct FailureCause {
  std::string cause;
  std::int64_t count = 0;
  bool takes_node = true;  // the node leaves the job for repair
  bool operator==(const FailureCause&) const = default;
};
Fields<FailureCause> fields_of(const FailureCause*);

// Some nodes fail far more often than others.
struct LemonNodes {
  double share = 0;   // of all nodes
  double factor = 1;  // their rate over that of the others
  bool operator==(const LemonNodes&) const = default;
};
Fields<LemonNodes> fields_of(const LemonNodes*);
// Errors: a share outside [0, 1], a factor below 1.
Result<void> check(const LemonNodes& lemons);

// Failures of a rack, or of a switch with all of its nodes.
struct FailingRacks {
  std::int64_t nodes = 1;  // that leave the job and are repaired together
  double share = 0;        // of all failures
  bool operator==(const FailingRacks&) const = default;
};
Fields<FailingRacks> fields_of(const FailingRacks*);
// Errors: a share outside [0, 1], no nodes.
Result<void> check(const FailingRacks& racks);

struct FailureRates {
  std::string name;
  std::string title;
  double per_1000_node_days = 0;
  std::int64_t accelerators_per_node = 8;
  std::optional<std::int64_t> nodes;  // observed
  std::optional<double> days;
  std::optional<std::int64_t> planned;         // interruptions beside those of the rate
  std::vector<FailureCause> causes;            // of the rate
  TimeLaw gaps{.law = TimeForm::exponential};  // the form alone: the mean follows from the rate
  LemonNodes lemons;
  FailingRacks racks;
  std::optional<TimeLaw> repair;
  Provenance provenance;
  bool operator==(const FailureRates&) const = default;
};
Fields<FailureRates> fields_of(const FailureRates*);

// Errors: no rate, shares outside [0, 1], negative times, counts that contradict the rate.
Result<void> check(const FailureRates& rates);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<FailureRates> load_failure_rates(const Catalog& catalog, std::string_view name);

// Of one node with that many accelerators.
Hertz rate_of_node(const FailureRates& rates, std::int64_t accelerators);
// The share of failures that take their node out of the job; 1 if no causes are stated.
double node_share(const FailureRates& rates);

}  // namespace orrery
