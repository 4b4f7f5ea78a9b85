#include "measured/cluster_of_row.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "cluster/accelerator.h"
#include "cluster/cluster_description.h"
#include "cluster/node.h"
#include "measured/network_link.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

// Accelerators of the generic servers that stand in where an accelerator has no usual one.
constexpr std::int64_t kServer = 8;
constexpr double kGigabyte = 1e9;

// "... 2.4 TB/s ..." in a note.
std::optional<BytesPerSecond> bandwidth_in(const std::string& note) {
  const auto unit = note.find(" TB/s");
  if (unit == std::string::npos) return std::nullopt;
  auto begin = unit;
  while (begin > 0 && note[begin - 1] != ' ') --begin;
  auto parsed = parse_bytes_per_second(note.substr(begin, unit + 5 - begin));
  if (!parsed) return std::nullopt;
  return *parsed;
}

// "... 500 W power limit ..." in a note.
std::optional<Watts> power_limit_in(const std::string& note) {
  const auto end = note.find(" W power limit");
  if (end == std::string::npos) return std::nullopt;
  auto begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(note[begin - 1])) != 0) --begin;
  if (begin == end || end - begin > 5) return std::nullopt;
  return Watts(std::stod(note.substr(begin, end - begin)));
}

// Under a power cap the clock settles where dynamic power, which goes with the clock and the square
// of a voltage that goes with the clock, meets it: rates go with the cube root of the limit
// (Rabaey, Digital Integrated Circuits, s.5.5). Products and attention run into the cap; memory
// has a clock of its own.
void limit_power(Accelerator& accelerator, Watts limit) {
  if (!accelerator.power || limit >= *accelerator.power) return;
  const double share = std::cbrt(limit / *accelerator.power);
  PeakRates& p = accelerator.peaks;
  for (auto* rate : {&p.fp16, &p.bf16, &p.fp8, &p.mxfp8, &p.fp6, &p.fp4, &p.nvfp4, &p.int8}) {
    if (*rate) *rate = **rate * share;
  }
}

void apply_own_parts(const MeasuredRow& row, RowCluster& out) {
  Accelerator& accelerator = out.cluster.accelerator;
  const Bytes marketed = accelerator.memory.marketed.value_or(accelerator.memory.capacity);
  if (row.accelerator_memory_gb && *row.accelerator_memory_gb * kGigabyte != marketed.value()) {
    accelerator.memory.capacity = Bytes(*row.accelerator_memory_gb * kGibibyte);
    out.assumed.push_back("accelerator memory " + to_text(accelerator.memory.capacity) +
                          ": the source's own, not the catalog's");
  }
  if (auto bandwidth = bandwidth_in(row.accelerator_note)) {
    accelerator.memory.bandwidth = *bandwidth;
    out.assumed.push_back("memory bandwidth " + to_text(*bandwidth) +
                          ": the source's own, not the catalog's");
  }
  if (const auto limit = power_limit_in(row.accelerator_note)) {
    limit_power(accelerator, *limit);
    out.assumed.push_back("power limit " + to_exact_text(*limit) +
                          ": matrix rates with the cube root of the power");
  }
}

// Bandwidth and fabric between nodes, with the assumption if it is one.
struct Between {
  BytesPerSecond per_accelerator;
  std::string fabric;
};

std::optional<Between> between_nodes(const MeasuredRow& row, const RunConvention& convention,
                                     double per_node, std::vector<std::string>& assumed) {
  const auto stated = network_link(row.inter_node_link);
  const auto usual = network_link(convention.link);
  const auto& link = stated ? stated : usual;
  if (!link) return std::nullopt;
  Between out{link->per_accelerator(per_node), link->fabric};
  const bool fabric_assumed = out.fabric.empty();
  if (fabric_assumed) out.fabric = convention.fabric;
  if (!stated) {
    assumed.push_back("network: " + convention.link + " per node, " + out.fabric +
                      (row.inter_node_link.empty()
                           ? ", since the source states none"
                           : ", since '" + row.inter_node_link + "' gives no rate"));
  } else if (fabric_assumed && !out.fabric.empty()) {
    assumed.push_back("network: " + out.fabric + " for '" + row.inter_node_link + "'");
  }
  return out;
}

}  // namespace

Expressible<RowCluster> cluster_of_row(const MeasuredRow& row, const RunConvention& convention,
                                       const Catalog& catalog) {
  if (row.accelerator.empty()) return skip("the source does not state: accelerator");
  if (!row.num_gpus) return skip("the source does not state: num_gpus");
  const std::int64_t gpus = *row.num_gpus;
  if (gpus > kMaxAccelerators) {
    return skip(std::to_string(gpus) + " GPUs are more than can be described");
  }
  // The accelerator in its usual server, of which the row may fill only a part.
  ClusterDescription description;
  description.name = row.accelerator + ":" + std::to_string(gpus);
  description.accelerator = row.accelerator;
  description.accelerators = 1;
  const auto accelerator = load_accelerator(catalog, row.accelerator);
  if (!accelerator) return skip("the cluster: " + accelerator.error().text());
  std::int64_t usual = kServer;
  std::int64_t domain = kServer;
  if (!accelerator->default_node.empty()) {
    const auto node = load_node(catalog, accelerator->default_node);
    if (!node) return skip("the cluster: " + node.error().text());
    usual = node->accelerators;
    domain = node->scale_up.domain;
  }
  const std::int64_t stated = row.gpus_per_node.value_or(usual);
  const std::int64_t per_node = std::min(stated, gpus);
  if (gpus % per_node != 0) {
    return skip(std::to_string(gpus) + " GPUs do not fill nodes of " + std::to_string(per_node));
  }
  if (stated > std::max(usual, domain)) {
    return skip("nodes of " + std::to_string(stated) + " " + row.accelerator +
                " are not in the catalog, only of " + std::to_string(usual));
  }

  RowCluster out;
  const bool rack = domain > usual;  // the scale-up domain spans nodes, whatever the row says
  // Only whole usual servers can be described; the row's own counts are set below.
  description.accelerators = gpus <= usual ? gpus : (gpus + usual - 1) / usual * usual;
  if (!rack) {
    LevelDescription inside;
    inside.name = "node";
    inside.accelerators = per_node;
    description.levels.push_back(std::move(inside));
  }
  if (gpus > (rack ? domain : per_node)) {
    if (is_single_node(row.inter_node_link)) {
      return skip("'" + row.inter_node_link + "', but " + std::to_string(gpus) +
                  " GPUs are more than a node of " + std::to_string(per_node));
    }
    if (const auto between =
            between_nodes(row, convention, static_cast<double>(stated), out.assumed)) {
      LevelDescription network;
      network.name = between->fabric.empty() ? "network" : between->fabric;
      network.accelerators = description.accelerators;
      if (!between->fabric.empty()) network.fabric = between->fabric;
      network.bandwidth = between->per_accelerator;
      network.oversubscription = 1;
      description.levels.push_back(std::move(network));
    } else if (!rack) {
      LevelDescription network;
      network.name = "network";
      network.accelerators = description.accelerators;
      network.oversubscription = 1;
      description.levels.push_back(std::move(network));
      out.assumed.push_back("network: the usual one of " + row.accelerator);
    }
  }
  auto built = build_cluster(description, catalog);
  if (!built) return skip("the cluster: " + built.error().text());
  out.cluster = std::move(*built);
  out.cluster.accelerators = gpus;
  out.cluster.accelerators_per_node = per_node;
  out.cluster.levels.back().accelerators = gpus;
  out.assumed.insert(out.assumed.end(), out.cluster.assumed.begin(), out.cluster.assumed.end());
  apply_own_parts(row, out);
  if (auto checked = check(out.cluster); !checked) {
    return skip("the cluster: " + checked.error().text());
  }
  return out;
}

}  // namespace orrery
