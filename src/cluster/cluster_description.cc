// From a description to levels.
//
// Latency of a network level: the fabric's end-to-end latency of a small message, which holds
// across one switch, plus two more switch crossings for every further tier. A level that stands for
// a whole fat tree of switches with r ports has 1 tier up to r/2 nodes (each rail of a
// rail-optimised network has its own leaf switch), 2 up to r^2/2 accelerators, 3 up to r^3/4
// (Al-Fares et al., SIGCOMM 2008, section 3), 4 above.
#include "cluster/cluster_description.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/fabric.h"
#include "cluster/sites.h"

namespace orrery {

Fields<LevelDescription> fields_of(const LevelDescription*) {
  return Fields<LevelDescription>("level of a cluster")
      .required<&LevelDescription::name>("node, rack, pod, cluster, ...")
      .required<&LevelDescription::accelerators>("below one unit of this level")
      .optional<&LevelDescription::fabric>("name in the catalog's fabrics")
      .optional<&LevelDescription::bandwidth>("per accelerator, one direction")
      .optional<&LevelDescription::latency>("of one message, device to device")
      .optional<&LevelDescription::oversubscription>(
          "1 = full bisection, 7 = one seventh of the bandwidth")
      .optional<&LevelDescription::efficiency>(
          "share of the nominal bandwidth that large transfers reach")
      .optional<&LevelDescription::in_switch_reduction>(
          "the switch adds up the contributions of an all-reduce")
      .optional<&LevelDescription::topology>(
          "how the units below are wired; absent: one switch that never blocks")
      .optional<&LevelDescription::transport>(
          "how messages travel; absent: nothing is lost, any window")
      .optional<&LevelDescription::description>("in words");
}

Fields<ClusterDescription> fields_of(const ClusterDescription*) {
  return Fields<ClusterDescription>("cluster")
      .required<&ClusterDescription::name>("identifier")
      .optional<&ClusterDescription::year>("of first use")
      .optional<&ClusterDescription::node>("name in the catalog's nodes")
      .optional<&ClusterDescription::accelerator>("name in the catalog's accelerators")
      .optional<&ClusterDescription::fabric>("name in the catalog's fabrics")
      .optional<&ClusterDescription::topology>("in words")
      .optional<&ClusterDescription::accelerators>("in all")
      .optional<&ClusterDescription::host>(
          "processor, memory and storage of a server, over those of the node")
      .optional<&ClusterDescription::host_path>(
          "how PCIe cards of a node meet where no switch joins them all")
      .optional<&ClusterDescription::levels>("from the inside out")
      .optional<&ClusterDescription::sites>("clusters joined by a link")
      .optional<&ClusterDescription::link>("name in the catalog's links")
      .optional<&ClusterDescription::link_bandwidth>("of one site to the others, one direction")
      .optional<&ClusterDescription::link_bandwidths>("of each site, where they differ")
      .optional<&ClusterDescription::link_round_trip_time>("between two sites")
      .optional<&ClusterDescription::transport>("how messages travel over that link")
      .optional<&ClusterDescription::provenance>("where the figures come from");
}

namespace {

// Figures of the fabrics that stand in for those without any of their own.
constexpr std::string_view kScaleUpStandIn = "nvlink-3";
constexpr std::string_view kScaleOutStandIn = "datacentre-ethernet";
constexpr std::string_view kHostStandIn = "pcie-3-x16";
// Between two devices on one PCIe host; NCCL's tuner: hardware latency of a ring step over PCIe,
// protocol LL (src/graph/tuning.cc, hwLat).
constexpr Seconds kPcieLatency = Seconds(1.0e-6);

struct Figures {
  Seconds latency;
  double efficiency = 1;
  bool in_switch_reduction = false;
  bool ordered_delivery = true;
  std::optional<Seconds> switch_latency;
  std::optional<std::int64_t> switch_radix;
};

// The measured figures of the fabric; missing ones are taken from the stand-in and listed in
// `assumed`.
Result<Figures> figures_of(const std::string& name, std::string_view stand_in,
                           const Catalog& catalog, std::vector<std::string>& assumed) {
  Fabric fabric;
  if (!name.empty() && catalog.contains("fabrics", name)) {
    ORRERY_TRY(fabric, load_fabric(catalog, name));
  }
  const std::string shown = name.empty() ? "unnamed fabric" : name;
  const bool host = stand_in == kHostStandIn;
  if (!fabric.small_message_latency && host) {
    fabric.small_message_latency = kPcieLatency;
    assumed.push_back("latency of " + shown + ": " + to_text(kPcieLatency) +
                      ", NCCL's figure for PCIe");
  }
  if (!fabric.small_message_latency || !fabric.large_message_efficiency) {
    ORRERY_TRY(const Fabric other, load_fabric(catalog, stand_in));
    if (!fabric.small_message_latency) {
      fabric.small_message_latency = other.small_message_latency.value_or(Seconds(0));
      assumed.push_back("latency of " + shown + ": " + to_text(*fabric.small_message_latency) +
                        ", that of " + other.name);
    }
    if (!fabric.large_message_efficiency) {
      fabric.large_message_efficiency = other.large_message_efficiency.value_or(1);
      assumed.push_back("efficiency of " + shown + ": " +
                        std::to_string(std::lround(100 * *fabric.large_message_efficiency)) + " %" +
                        ", that of " + other.name);
    }
  }
  return Figures{*fabric.small_message_latency,
                 *fabric.large_message_efficiency,
                 fabric.in_switch_reduction.value_or(false),
                 fabric.ordered_delivery.value_or(true),
                 fabric.switch_latency,
                 fabric.switch_radix};
}

// Tiers of a fat tree; see the head of this file.
int fat_tree_tiers(std::int64_t radix, std::int64_t nodes, std::int64_t accelerators) {
  if (nodes <= radix / 2) return 1;
  if (accelerators <= radix * radix / 2) return 2;
  if (accelerators <= radix * radix * radix / 4) return 3;
  return 4;
}

// The scale-up domain of the node, or PCIe if it has none.
Result<FabricLevel> scale_up_level(const Node& node, const Accelerator& accelerator,
                                   const Catalog& catalog, std::vector<std::string>& assumed) {
  FabricLevel level;
  const bool own = node.accelerator == accelerator.name;
  const BytesPerSecond linked =
      own && node.scale_up.bandwidth ? *node.scale_up.bandwidth : accelerator.scale_up.bandwidth;
  if (node.scale_up.domain > 1 && linked.value() > 0) {
    level.name = accelerator.scale_up.fabric.empty() ? "scale-up" : accelerator.scale_up.fabric;
    level.accelerators = node.scale_up.domain;
    level.bandwidth = linked;
    ORRERY_TRY(const Figures figures,
               figures_of(accelerator.scale_up.fabric, kScaleUpStandIn, catalog, assumed));
    level.latency = figures.latency;
    level.efficiency = figures.efficiency;
    level.in_switch_reduction =
        figures.in_switch_reduction && node.scale_up.topology.starts_with("nvswitch");
    if (!own && node.scale_up.topology.empty() && figures.in_switch_reduction) {
      level.in_switch_reduction = true;
      assumed.push_back("the scale-up domain is switched and reduces in the switch");
    }
    return level;
  }
  if (!accelerator.host_link.bandwidth) {
    return bad_input("nothing is known that joins the accelerators of a node '" + node.name +
                         "' of '" + accelerator.name + "'",
                     "", "give `scale_up.bandwidth` or `host_link.bandwidth` of the accelerator");
  }
  level.name = accelerator.host_link.kind.empty() ? "pcie" : accelerator.host_link.kind;
  level.accelerators = node.accelerators;
  level.bandwidth = *accelerator.host_link.bandwidth;
  ORRERY_TRY(const Figures figures,
             figures_of(accelerator.host_link.kind, kHostStandIn, catalog, assumed));
  level.latency = figures.latency;
  level.efficiency = figures.efficiency;
  return level;
}

// A domain of several nodes is filled evenly where that is possible: 256 accelerators in domains
// of 72 are 4 x 64.
std::int64_t even_domain(std::int64_t domain, std::int64_t per_node, std::int64_t total) {
  if (total <= domain || total % domain == 0) return std::min(domain, total);
  for (std::int64_t size = domain; size * 2 > domain; --size) {
    if (size % per_node == 0 && total % size == 0) return size;
  }
  return domain;
}

struct Network {
  std::string fabric;
  BytesPerSecond bandwidth;
};

Result<Network> network_of(const Node& node, const Accelerator& accelerator,
                           const ClusterDescription& description,
                           std::vector<std::string>& assumed) {
  Network network;
  network.fabric = description.fabric.empty() ? node.scale_out.fabric : description.fabric;
  if (network.fabric.empty()) {
    network.fabric = kScaleOutStandIn;
    assumed.push_back("network: " + network.fabric + ", since the node names none");
  }
  if (node.scale_out.bandwidth) {
    network.bandwidth = *node.scale_out.bandwidth;
  } else if (accelerator.scale_out_bandwidth) {
    network.bandwidth = *accelerator.scale_out_bandwidth;
    assumed.push_back("network bandwidth: " + to_text(network.bandwidth) +
                      " per accelerator, as is usual for " + accelerator.name);
  }
  return network;
}

// A fabric in place of the node's changes latency and efficiency; how fast the node's cards send is
// theirs. One whose ports have another rate is refused, unless its level states a bandwidth.
Result<void> check_port_rate(const std::string& name, const Node& node, const Catalog& catalog) {
  const std::optional<BytesPerSecond> card =
      node.scale_out.nic_rate ? node.scale_out.nic_rate : node.scale_out.bandwidth;
  if (name.empty() || name == node.scale_out.fabric || !card ||
      !catalog.contains("fabrics", name)) {
    return {};
  }
  ORRERY_TRY(const Fabric fabric, load_fabric(catalog, name));
  if (!fabric.bandwidth || std::abs(*fabric.bandwidth / *card - 1) < 0.01) return {};
  return bad_input(name + " has ports of " + to_text(*fabric.bandwidth) + ", but the cards of " +
                       node.name + " send " + to_text(*card),
                   "fabric", "give levels with a bandwidth, or a node with such cards");
}

Result<FabricLevel> network_level(const LevelDescription& described, const Network& network,
                                  int further_tiers, std::int64_t per_node, const Catalog& catalog,
                                  std::vector<std::string>& assumed) {
  const std::string fabric = described.fabric.value_or(network.fabric);
  if (!catalog.contains("fabrics", fabric)) {
    return fail(ErrorCode::not_found, "no '" + fabric + "' among the fabrics of the catalog",
                "fabric", name_hint(fabric, catalog.names("fabrics")));
  }
  std::vector<std::string> gaps;
  ORRERY_TRY(Figures figures, figures_of(fabric, kScaleOutStandIn, catalog, gaps));
  if (!described.latency || !described.efficiency) {
    for (std::string& gap : gaps) {
      if (std::ranges::find(assumed, gap) == assumed.end()) assumed.push_back(std::move(gap));
    }
  }
  int tiers = further_tiers;
  if (tiers < 0) {
    tiers = figures.switch_radix
                ? fat_tree_tiers(*figures.switch_radix,
                                 (described.accelerators + per_node - 1) / per_node,
                                 described.accelerators) -
                      1
                : 0;
  }
  FabricLevel level;
  level.name = described.name;
  if (fabric != level.name) level.fabric = fabric;
  level.accelerators = described.accelerators;
  level.bandwidth = described.bandwidth.value_or(network.bandwidth);
  if (level.bandwidth.value() == 0) {
    return bad_input("level '" + level.name + "' has no bandwidth", "levels",
                     "the node has no network bandwidth; give `bandwidth` of the level");
  }
  level.latency = described.latency.value_or(
      figures.latency + figures.switch_latency.value_or(Seconds(0)) * (2.0 * tiers));
  level.efficiency = described.efficiency.value_or(figures.efficiency);
  level.in_switch_reduction = described.in_switch_reduction.value_or(false);
  level.ordered_delivery = figures.ordered_delivery;
  level.oversubscription = described.oversubscription.value_or(1);
  level.topology = described.topology;
  level.transport = described.transport;
  return level;
}

// Applies what the description states to the derived scale-up level.
void override_level(FabricLevel& level, const LevelDescription& described) {
  level.accelerators = described.accelerators;
  level.bandwidth = described.bandwidth.value_or(level.bandwidth);
  level.latency = described.latency.value_or(level.latency);
  level.efficiency = described.efficiency.value_or(level.efficiency);
  level.in_switch_reduction = described.in_switch_reduction.value_or(level.in_switch_reduction);
  level.oversubscription = described.oversubscription.value_or(1);
  level.topology = described.topology;
  level.transport = described.transport;
}

}  // namespace

Result<Cluster> build_cluster(const ClusterDescription& d, const Catalog& catalog) {
  Cluster cluster;
  if (!d.sites.empty()) {
    ORRERY_TRY(cluster, build_sites(d, catalog));
    ORRERY_RETURN_IF_ERROR(check(cluster));
    return cluster;
  }
  if (d.node.empty() && d.accelerator.empty()) {
    return bad_input("missing field 'node' in cluster", "",
                     "a name in the catalog's nodes, or give `accelerator` or `sites`");
  }
  if (!d.link.empty() || d.link_bandwidth || !d.link_bandwidths.empty() || d.link_round_trip_time ||
      d.transport) {
    return bad_input("a link needs sites that it joins", "link",
                     "give `sites`, or leave out `link`");
  }

  Node node;
  if (!d.node.empty()) {
    ORRERY_TRY(node, load_node(catalog, d.node));
  }
  const std::string accelerator = d.accelerator.empty() ? node.accelerator : d.accelerator;
  if (accelerator.empty()) {
    return bad_input("node '" + node.name + "' takes any accelerator", "accelerator",
                     "give `accelerator`");
  }
  ORRERY_TRY(cluster.accelerator, load_accelerator(catalog, accelerator));
  if (d.node.empty()) {
    std::string usual = cluster.accelerator.default_node;
    if (usual.empty()) {
      usual = cluster.accelerator.scale_up.bandwidth.value() > 0 ? "generic-scale-up-8"
                                                                 : "generic-pcie-8";
    }
    ORRERY_TRY(node, load_node(catalog, usual));
  }
  if (node.accelerator.empty() && d.node.empty()) {
    cluster.assumed.push_back("server: " + node.name + ", since no usual one is known");
  } else if (!node.accelerator.empty() && node.accelerator != cluster.accelerator.name) {
    cluster.assumed.push_back("server: " + node.name + " with its accelerators replaced by " +
                              cluster.accelerator.name);
  }

  cluster.name = d.name;
  cluster.provenance = d.provenance;
  cluster.host_path = d.host_path;
  cluster.host = stated_over(node.host, d.host);
  cluster.accelerators = d.accelerators;
  cluster.accelerators_per_node = node.accelerators;
  if (d.accelerators < 1 || d.accelerators > kMaxAccelerators) {
    return bad_input(std::to_string(d.accelerators) + " accelerators", "accelerators",
                     "from 1 to " + std::to_string(kMaxAccelerators));
  }
  if (d.levels.size() > kMaxFabricLevels) {
    return bad_input(std::to_string(d.levels.size()) + " fabric levels", "levels",
                     "at most " + std::to_string(kMaxFabricLevels));
  }

  ORRERY_TRY(FabricLevel scale_up,
             scale_up_level(node, cluster.accelerator, catalog, cluster.assumed));
  std::vector<LevelDescription> described = d.levels;
  if (!described.empty() && described.front().accelerators <= scale_up.accelerators) {
    override_level(scale_up, described.front());
    described.erase(described.begin());
  } else if (scale_up.accelerators > node.accelerators) {
    const std::int64_t domain = scale_up.accelerators;
    scale_up.accelerators = even_domain(domain, node.accelerators, d.accelerators);
    if (scale_up.accelerators < std::min(domain, d.accelerators)) {
      cluster.assumed.push_back("each scale-up domain of " + std::to_string(domain) +
                                " is filled with " + std::to_string(scale_up.accelerators));
    }
  }
  const bool whole = scale_up.accelerators >= d.accelerators;
  if (whole) scale_up.accelerators = d.accelerators;
  cluster.levels.push_back(std::move(scale_up));

  Network network;
  if (!whole || !described.empty()) {
    ORRERY_TRY(network, network_of(node, cluster.accelerator, d, cluster.assumed));
  }
  const bool one_network = described.size() < 2;
  if (described.empty() && !whole) {
    LevelDescription all;
    all.name = network.fabric;
    all.accelerators = d.accelerators;
    described.push_back(std::move(all));
    cluster.assumed.push_back("network: rail-optimised fat tree of full bisection");
  }
  for (std::size_t i = 0; i < described.size(); ++i) {
    if (!described[i].bandwidth) {
      ORRERY_RETURN_IF_ERROR(
          check_port_rate(described[i].fabric.value_or(d.fabric), node, catalog));
    }
    ORRERY_TRY(FabricLevel level,
               network_level(described[i], network, one_network ? -1 : static_cast<int>(i),
                             node.accelerators, catalog, cluster.assumed));
    if (!described[i].oversubscription && !d.levels.empty()) {
      cluster.assumed.push_back("oversubscription of level " + level.name + ": none");
    }
    cluster.levels.push_back(std::move(level));
  }
  cluster.accelerators_per_node = std::min(cluster.accelerators_per_node, cluster.accelerators);
  ORRERY_RETURN_IF_ERROR(check(cluster));
  return cluster;
}

}  // namespace orrery
