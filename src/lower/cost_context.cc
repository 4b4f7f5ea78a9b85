#include "lower/cost_context.h"

#include <algorithm>
#include <cmath>

#include "cost/kernel/kernel_parameters.h"

namespace orrery {

Result<CostContext> cost_context(const Cluster& cluster, const Catalog& catalog,
                                 SoftwareProfile software) {
  ORRERY_TRY(const TrainingConditions conditions, load_training_conditions(catalog));
  return cost_context(cluster, catalog, conditions, std::move(software));
}

Result<CostContext> cost_context(const Cluster& cluster, const Catalog& catalog,
                                 const TrainingConditions& conditions, SoftwareProfile software) {
  ORRERY_TRY(KernelParameters kernels, load_kernel_parameters(catalog, cluster.accelerator));
  ORRERY_TRY(CollectiveParameters collectives,
             load_collective_parameters(catalog, cluster.accelerator.architecture));
  Cluster loaded = cluster;
  loaded.levels = under_training(std::move(loaded.levels), conditions, cluster);
  return CostContext{
      std::move(loaded),      KernelModel(under_training(std::move(kernels), conditions, cluster)),
      std::move(collectives), assumed_conditions(conditions, cluster),
      std::move(software),    cluster.levels};
}

CommunicationInterference CostContext::interference(CollectiveKind kind, Bytes payload,
                                                    const GroupShape& group) const {
  if (group.size <= 1 || payload.value() <= 0) return {};
  return communication_interference(
      kind, payload, group, cluster.levels,
      collective(kind, payload, group, cluster.levels, collectives), collectives,
      {static_cast<int>(cluster.accelerator.compute_units), cluster.accelerator.memory.bandwidth});
}

Picoseconds contention(Picoseconds computing, Picoseconds communicating, double share_lost) {
  if (share_lost <= 0) return Picoseconds(0);
  const double rate = 1 - share_lost;
  const double lost =
      std::min(computing.count() * (1 / rate - 1), communicating.count() * share_lost);
  return Picoseconds(std::floor(lost));
}

}  // namespace orrery
