#include "lower/cost_context.h"

#include <algorithm>
#include <cmath>

#include "cost/collective/communication_path.h"
#include "cost/kernel/kernel_parameters.h"

namespace orrery {
namespace {

// Servers differ most in how their cards reach each other without a switch: 1.3 GB/s of eight L40S
// in nccl-collectives-measured.csv, 23.7 of four A100 in vidur-network-measured.csv
// (validation/kernels).
void add_host_path(const Cluster& cluster, const CollectiveParameters& collectives,
                   std::vector<std::string>& assumed) {
  const HostPath& host = collectives.host_path;
  const FabricLevel& level = cluster.levels.front();
  if (host.direct_ranks == 0 || level.accelerators <= host.direct_ranks ||
      link_kind(level, 0) != LinkKind::pcie) {
    return;
  }
  std::string rates = to_text(host.socket) + " each";
  if (level.accelerators > host.socket_ranks) {
    rates += " up to " + std::to_string(host.socket_ranks) + " and " + to_text(host.node) +
             " each beyond";
  }
  assumed.push_back("more than " + std::to_string(host.direct_ranks) + " " +
                    cluster.accelerator.name + " of a node meet in the memory of the host, at " +
                    rates + ", as on the one server that catalog/collectives/" + collectives.name +
                    ".yaml was fitted to; servers with a PCIe switch reach 23.7 GB/s: "
                    "state `host_path` in a cluster file (docs/clusters.md)");
}

}  // namespace

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
  std::vector<std::string> assumed = assumed_conditions(conditions, cluster);
  if (cluster.host_path) {
    collectives.host_path = *cluster.host_path;
  } else {
    add_host_path(cluster, collectives, assumed);
  }
  return CostContext{
      std::move(loaded),      KernelModel(under_training(std::move(kernels), conditions, cluster)),
      std::move(collectives), std::move(assumed),
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
