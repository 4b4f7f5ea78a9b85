// A cluster: accelerators of one kind, in nodes, joined by fabric levels.
//
// Levels go from the inside out: level 0 is the scale-up domain (the NVLink domain of a server or
// of an NVL72 rack, a TPU torus, or the PCIe of a server without either), then come the network
// levels; the last one joins all accelerators. A level between sites is a wide-area link.
// Accelerators fill the levels in order of their number.
//
// Four ways to name one:
//   h100-sxm:1024                  that many accelerators in their usual servers (`default_node` of
//                                  the catalog), one rail-optimised network of full bisection
//   meta-h100-24k-roce:16384       a cluster of the catalog, or part of it; also a node: aws-p5:512
//   cluster.yaml, cluster.yaml:64  a file, see docs/clusters.md
//   h100-sxm:1024+h100-sxm:1024@metro-pair    equal sites joined by a link (cluster/sites.h)
//
// Not modelled: mixed accelerators; sites of different size; routes inside a torus or dragonfly
// (their levels are modelled as switched).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/accelerator.h"
#include "cluster/fabric_level.h"
#include "cluster/host_path.h"
#include "cluster/node.h"
#include "document/fields.h"
#include "document/provenance.h"

namespace orrery {

struct Cluster {
  std::string name;
  Accelerator accelerator;
  std::int64_t accelerators = 0;           // in total
  std::int64_t accelerators_per_node = 0;  // divides the above
  std::vector<FabricLevel> levels;         // never empty; sizes ascend; the last holds all
  std::optional<HostPath> host_path;       // of its servers; empty: as fast as its links
  NodeHost host;                           // of each of its servers, as far as it is known
  std::vector<std::string> assumed;        // sentences about defaults that were used
  Provenance provenance;
  bool operator==(const Cluster&) const = default;
};
const Fields<Cluster>& fields_of(const Cluster*);

inline constexpr std::int64_t kMaxAccelerators = 10'000'000;
inline constexpr std::size_t kMaxFabricLevels = 16;

// A cluster by any of the names above. Errors: unknown name with the nearest known one; a
// count that is not a whole number of nodes, with the nearest two that are; more than there are.
Result<Cluster> parse_cluster(std::string_view text, const Catalog& catalog);

// The same without access to files, for names from a catalog or an untrusted text.
Result<Cluster> parse_cluster_name(std::string_view text, const Catalog& catalog);

// A cluster from a document: either what fields_of(Cluster) writes (its `accelerator` is a map), or
// a ClusterDescription that refers to the catalog.
Result<Cluster> read_cluster(const Document& document, const Catalog& catalog);

// The first `accelerators` of a cluster, without levels that no longer join more accelerators than
// the level inside them. Errors: more than there are; not a whole number of nodes.
Result<Cluster> part_of(Cluster cluster, std::int64_t accelerators);

// Checks that a cluster is possible; the error names the field and the numbers.
Result<void> check(const Cluster& cluster);

}  // namespace orrery
