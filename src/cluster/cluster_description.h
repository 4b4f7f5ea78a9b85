// A cluster as people write it: references to the catalog, and deviations from it.
//
//   name: two-racks                      name: two-sites
//   node: gb200-nvl72                    sites: [h100-sxm:1024, h100-sxm:1024]
//   accelerators: 144                    link: metro-pair
//   fabric: infiniband-xdr               link_bandwidth: 3.2 Tb/s
//
// docs/clusters.md explains every field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "cluster/node.h"
#include "document/fields.h"
#include "document/provenance.h"

namespace orrery {

// Overrides for a level that the catalog's node and fabric describe.
struct LevelDescription {
  std::string name;
  std::int64_t accelerators = 0;  // below one unit of this level
  std::optional<std::string> fabric;
  std::optional<BytesPerSecond> bandwidth;  // per accelerator, one direction
  std::optional<Seconds> latency;
  std::optional<double> oversubscription;
  std::optional<double> efficiency;
  std::optional<bool> in_switch_reduction;
  std::optional<LevelTopology> topology;  // absent: one switch that never blocks
  std::optional<Transport> transport;     // absent: nothing is lost, any window
  std::string description;
  bool operator==(const LevelDescription&) const = default;
};
Fields<LevelDescription> fields_of(const LevelDescription*);

struct ClusterDescription {
  std::string name;
  std::optional<std::int64_t> year;
  std::string node;         // catalog name; empty: the default node of the accelerator
  std::string accelerator;  // catalog name; empty: the accelerator of the node
  std::string fabric;       // catalog name; empty: the fabric of the node
  std::string topology;     // in words
  std::int64_t accelerators = 0;
  NodeHost host;                                 // instead of the node's, field by field
  std::optional<HostPath> host_path;             // of PCIe cards; empty: as fast as their links
  std::vector<LevelDescription> levels;          // empty: scale-up domain and one network
  std::vector<std::string> sites;                // instead of all the above: clusters ...
  std::string link;                              // ... joined by this link of the catalog
  std::optional<BytesPerSecond> link_bandwidth;  // of one site to the others, one direction
  std::vector<BytesPerSecond> link_bandwidths;   // of each site, where they differ
  std::optional<Seconds> link_round_trip_time;
  std::optional<Transport> transport;  // its packet drop rate, where 0, is that of the link
  Provenance provenance;
  bool operator==(const ClusterDescription&) const = default;
};
Fields<ClusterDescription> fields_of(const ClusterDescription*);

// The cluster described. Errors: unknown names; contradictory or absent figures.
Result<Cluster> build_cluster(const ClusterDescription& description, const Catalog& catalog);

}  // namespace orrery
