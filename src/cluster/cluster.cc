#include "cluster/cluster.h"

#include <algorithm>

namespace orrery {

const Fields<Cluster>& fields_of(const Cluster*) {
  static const Fields<Cluster> table =
      Fields<Cluster>("cluster")
          .required<&Cluster::name>("identifier")
          .required<&Cluster::accelerator>("what computes, in full")
          .required<&Cluster::accelerators>("in all")
          .required<&Cluster::accelerators_per_node>("in one server")
          .required<&Cluster::levels>("from the inside out; the last holds all")
          .optional<&Cluster::host_path>("how its PCIe cards meet where no switch joins them all")
          .optional<&Cluster::host>("processor, memory and storage of one server")
          .optional<&Cluster::assumed>("what the description left open")
          .optional<&Cluster::provenance>("where the figures come from");
  return table;
}

namespace {

Failure refuse(std::string message, std::string where, std::string hint = "") {
  return bad_input(std::move(message), std::move(where), std::move(hint));
}

std::string text(std::int64_t n) { return std::to_string(n); }

Result<void> check_count(std::int64_t accelerators, std::int64_t per_node) {
  if (accelerators < 1) {
    return refuse("the number of accelerators is " + text(accelerators), "accelerators",
                  "at least 1");
  }
  if (accelerators > kMaxAccelerators) {
    return refuse(text(accelerators) + " accelerators are more than Orrery supports",
                  "accelerators", "at most " + text(kMaxAccelerators));
  }
  if (accelerators > per_node && accelerators % per_node != 0) {
    const std::int64_t below = accelerators / per_node * per_node;
    return refuse(text(accelerators) + " accelerators do not fill nodes of " + text(per_node),
                  "accelerators", text(below) + " or " + text(below + per_node) + " do");
  }
  return {};
}

Result<void> check(const FabricLevel& level) {
  const auto field = [](const char* name) { return std::string(name); };
  if (!(level.bandwidth.value() > 0)) {
    return refuse("the bandwidth of a level must be greater than 0", field("bandwidth"),
                  "a rate such as 450 GB/s");
  }
  if (!(level.latency.value() >= 0 && level.latency <= Seconds(60))) {
    return refuse("a latency of " + to_text(level.latency) + " is not plausible", field("latency"),
                  "between 0 and 60 s");
  }
  if (!(level.oversubscription >= 1 && level.oversubscription <= 1e6)) {
    return refuse("an oversubscription outside 1 to 1000000", field("oversubscription"),
                  "1 is full bisection, 7 one seventh of the bandwidth");
  }
  if (!(level.efficiency > 0 && level.efficiency <= 1)) {
    return refuse("an efficiency outside (0, 1]", field("efficiency"),
                  "the share of the nominal bandwidth that large transfers reach");
  }
  if (level.transport) ORRERY_RETURN_IF_ERROR(at("transport", check(*level.transport)));
  if (level.topology) return at("topology", check(*level.topology));
  return {};
}

}  // namespace

Result<void> check(const Cluster& cluster) {
  if (cluster.accelerators_per_node < 1) {
    return refuse("a node without accelerators", "accelerators_per_node", "at least 1");
  }
  ORRERY_RETURN_IF_ERROR(check_count(cluster.accelerators, cluster.accelerators_per_node));
  ORRERY_RETURN_IF_ERROR(at("accelerator", check(cluster.accelerator)));
  ORRERY_RETURN_IF_ERROR(check(cluster.host));
  if (cluster.levels.empty()) return refuse("no fabric level", "levels", "at least one");
  if (cluster.levels.size() > kMaxFabricLevels) {
    return refuse(text(static_cast<std::int64_t>(cluster.levels.size())) + " fabric levels",
                  "levels", "at most " + text(static_cast<std::int64_t>(kMaxFabricLevels)));
  }
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const FabricLevel& level = cluster.levels[i];
    const std::string place = "levels[" + std::to_string(i) + "]";
    ORRERY_RETURN_IF_ERROR(at(place, check(level)));
    if (level.accelerators <= inside) {
      return refuse("level '" + level.name + "' holds " + text(level.accelerators) +
                        " accelerators, not more than the " + text(inside) + " of what it joins",
                    place + ": accelerators", "levels go from the inside out");
    }
    inside = level.accelerators;
  }
  if (cluster.host_path) {
    const FabricLevel& first = cluster.levels.front();
    if (!fabric_of(first).starts_with("pcie")) {
      return refuse("the accelerators of a node are joined by '" + std::string(fabric_of(first)) +
                        "', not over the host",
                    "host_path", "leave it out where the first level is not PCIe");
    }
    ORRERY_RETURN_IF_ERROR(check(*cluster.host_path));
  }
  if (inside != cluster.accelerators) {
    return refuse("the last level holds " + text(inside) + " of " + text(cluster.accelerators) +
                      " accelerators",
                  "levels", "the last level joins all of them");
  }
  return {};
}

Result<Cluster> part_of(Cluster cluster, std::int64_t accelerators) {
  if (accelerators == cluster.accelerators) return cluster;
  if (accelerators > cluster.accelerators && accelerators <= kMaxAccelerators) {
    return refuse(text(accelerators) + " accelerators is more than the " +
                      text(cluster.accelerators) + " of " + cluster.name,
                  "accelerators", "at most " + text(cluster.accelerators));
  }
  ORRERY_RETURN_IF_ERROR(check_count(accelerators, cluster.accelerators_per_node));
  if (const std::string whole = ":" + text(cluster.accelerators); cluster.name.ends_with(whole)) {
    cluster.name.resize(cluster.name.size() - whole.size());
  }
  cluster.name += ":" + text(accelerators);
  cluster.accelerators = accelerators;
  cluster.accelerators_per_node = std::min(cluster.accelerators_per_node, accelerators);
  for (FabricLevel& level : cluster.levels) {
    level.accelerators = std::min(level.accelerators, accelerators);
  }
  // Once a level holds everything, the levels outside it join nothing.
  const auto whole = std::ranges::find(cluster.levels, accelerators, &FabricLevel::accelerators);
  if (whole != cluster.levels.end()) cluster.levels.erase(whole + 1, cluster.levels.end());
  return cluster;
}

}  // namespace orrery
