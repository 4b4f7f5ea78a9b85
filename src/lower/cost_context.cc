#include "lower/cost_context.h"

#include <algorithm>

#include "cost/collective/communication_path.h"
#include "cost/kernel/kernel_parameters.h"

namespace orrery {
namespace {

// Servers differ most in how their cards reach each other: eight L40S of one server without a
// switch at 1.65 GB/s (nccl-collectives-measured.csv), four A100 at 23.7 GB/s
// (vidur-network-measured.csv, validation/kernels). L40S of MLPerf's submissions train as fast as
// at the rate of their links (docs/models/collectives.md).
void add_host_path(const Cluster& cluster, const HostPath& measured,
                   std::vector<std::string>& assumed) {
  const FabricLevel& level = cluster.levels.front();
  if (cluster.host_path || measured.direct_ranks == 0 ||
      level.accelerators <= measured.direct_ranks || link_kind(level, 0) != LinkKind::pcie) {
    return;
  }
  assumed.push_back("all " + cluster.accelerator.name +
                    " of a node reach each other at the rate "
                    "of PCIe; where they meet in the memory of the host they do not (" +
                    to_text(measured.socket) + " each of " + std::to_string(measured.socket_ranks) +
                    ", " + to_text(measured.node) +
                    " of more, on one measured server): state `host_path` in a cluster file "
                    "(docs/clusters.md)");
}

}  // namespace

namespace {

// Of a cluster that is all alike.
Result<CostContext> context_of(const Cluster& cluster, const Catalog& catalog,
                               const TrainingConditions& conditions, SoftwareProfile software) {
  ORRERY_TRY(KernelParameters kernels, load_kernel_parameters(catalog, cluster.accelerator));
  ORRERY_TRY(CollectiveParameters collectives,
             load_collective_parameters(catalog, cluster.accelerator.architecture));
  Cluster loaded = cluster;
  loaded.levels = under_training(std::move(loaded.levels), conditions, cluster);
  std::vector<std::string> assumed = assumed_conditions(conditions, cluster);
  add_host_path(cluster, collectives.host_path, assumed);
  collectives.host_path = cluster.host_path.value_or(HostPath{});
  return CostContext{
      std::move(loaded),      KernelModel(under_training(std::move(kernels), conditions, cluster)),
      std::move(collectives), std::move(assumed),
      std::move(software),    cluster.levels};
}

}  // namespace

Result<CostContext> cost_context(const Cluster& cluster, const Catalog& catalog,
                                 const SoftwareProfile& software) {
  ORRERY_TRY(const TrainingConditions conditions, load_training_conditions(catalog));
  return cost_context(cluster, catalog, conditions, software);
}

Result<CostContext> cost_context(const Cluster& cluster, const Catalog& catalog,
                                 const TrainingConditions& conditions,
                                 const SoftwareProfile& software) {
  ORRERY_TRY(CostContext out, context_of(at_site(cluster, 0), catalog, conditions, software));
  std::int64_t first_rank = 0;
  for (std::size_t site = 1; site < site_count(cluster); ++site) {
    first_rank += accelerators_of(cluster, site - 1);
    ORRERY_TRY(CostContext further,
               context_of(at_site(cluster, site), catalog, conditions, software));
    further.first_rank = first_rank;
    for (const std::string& line : further.assumed) {
      if (std::ranges::find(out.assumed, line) == out.assumed.end()) out.assumed.push_back(line);
    }
    out.further_sites.push_back(std::move(further));
  }
  out.cluster.further_sites = cluster.further_sites;
  return out;
}

CommunicationInterference CostContext::interference(CollectiveKind kind, Bytes payload,
                                                    const GroupShape& group) const {
  if (group.size <= 1 || payload.value() <= 0) return {};
  return communication_interference(
      kind, payload, group, cluster.levels,
      collective(kind, payload, group, cluster.levels, collectives), collectives,
      {static_cast<int>(cluster.accelerator.compute_units), cluster.accelerator.memory.bandwidth});
}

Picoseconds CostContext::contention(Picoseconds computing, Picoseconds communicating,
                                    double share_lost) const {
  if (share_lost <= 0) return Picoseconds(0);
  const double rate = 1 - share_lost;
  const double lost =
      std::min(computing.count() * (1 / rate - 1), communicating.count() * share_lost);
  return rounded_down(lost);
}

}  // namespace orrery
