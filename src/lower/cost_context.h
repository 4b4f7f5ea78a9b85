// The cost model of one cluster and its software: kernels of the accelerator, collectives of the
// network, what the framework makes of operators.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "cost/collective/collective.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/interference.h"
#include "cost/collective/token_exchange.h"
#include "cost/kernel/kernel_model.h"
#include "cost/step/training_conditions.h"
#include "lower/kernel_times.h"
#include "plan/software.h"
#include "units/picoseconds.h"

namespace orrery {

struct CostContext {
  Cluster cluster;
  KernelModel kernels;
  CollectiveParameters collectives;
  std::vector<std::string> assumed;  // what training conditions borrow, how PCIe cards meet
  SoftwareProfile software;
  std::vector<FabricLevel> pairwise;  // the levels as two ranks alone on them see them
  std::shared_ptr<KernelTimes> kernel_times = nullptr;  // instead of those of `kernels`
  std::int64_t first_rank = 0;                          // of its site, where sites differ
  std::vector<CostContext> further_sites{};             // as Cluster::further_sites
  // Durations are multiples of it, a power of two. Sums of them are exact up to 2^53 ticks, so that
  // steps longer than 2.5 hours have a longer one (estimate/predicted_step.h).
  Picoseconds tick{1};

  // The one rounding step between cost models and the graph.
  [[nodiscard]] Picoseconds rounded(Seconds time) const {
    return Picoseconds(std::nearbyint(time.value() * 1e12 / tick.count()) * tick.count());
  }
  // Whole ticks of so many picoseconds, which need not be whole.
  [[nodiscard]] Picoseconds rounded_down(double picoseconds) const {
    return Picoseconds(std::floor(picoseconds / tick.count()) * tick.count());
  }
  [[nodiscard]] Seconds communicate(CollectiveKind kind, Bytes payload,
                                    const GroupShape& group) const {
    if (group.size <= 1 || payload.value() <= 0) return Seconds(0);
    return collective(kind, payload, group, cluster.levels, collectives).time;
  }
  [[nodiscard]] Seconds exchange(const TokenExchange& tokens, const GroupShape& group) const {
    return token_exchange_time(tokens, group, cluster.levels, collectives);
  }
  // What computing of `computing` loses if a transfer of `communicating` begins with it, in whole
  // ticks:
  //
  //   lost = min(computing (1/r - 1), communicating (1 - r)),   r = 1 - share lost
  //
  // The first if the transfer outlasts the computing, the second if it ends before. Monotone in
  // both. Source of r: cost/collective/interference.h.
  [[nodiscard]] Picoseconds contention(Picoseconds computing, Picoseconds communicating,
                                       double share_lost) const;
  // What a collective takes from computing beside it while it runs.
  [[nodiscard]] CommunicationInterference interference(CollectiveKind kind, Bytes payload,
                                                       const GroupShape& group) const;
};

// Kernels and fabric levels as a training step sees them (cost/step/training_conditions.h), of
// every site where sites differ. Errors: the catalog lacks kernel or collective parameters for this
// accelerator, or training conditions.
Result<CostContext> cost_context(const Cluster& cluster, const Catalog& catalog,
                                 const SoftwareProfile& software = {});
Result<CostContext> cost_context(const Cluster& cluster, const Catalog& catalog,
                                 const TrainingConditions& conditions,
                                 const SoftwareProfile& software = {});

}  // namespace orrery
