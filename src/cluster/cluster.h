// A cluster: accelerators in nodes, joined by fabric levels; of one kind, but where its sites differ.
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
//   h100-sxm:1024+a100-80gb-sxm:512@metro-pair   sites joined by a link (cluster/sites.h)
//
// Not modelled: several kinds of accelerator in one site; routes inside a torus or dragonfly (their
// levels are modelled as switched).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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

// What the ranks of a site have and see, where it differs from the first: `levels` holds its own
// and then the link, with the accelerators of all sites.
struct Site {
  std::string name;
  Accelerator accelerator;
  std::int64_t accelerators_per_node = 0;
  std::vector<FabricLevel> levels;
  NodeHost host = {};
  std::optional<HostPath> host_path = {};
  bool operator==(const Site&) const = default;
};
Fields<Site> fields_of(const Site*);

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
  // Where sites differ: those behind the first, in the order of their accelerators. The fields
  // above are then those of the first site. Empty where all sites are alike.
  std::vector<Site> further_sites{};
  bool operator==(const Cluster&) const = default;
};
Fields<Cluster> fields_of(const Cluster*);

inline constexpr std::int64_t kMaxAccelerators = 10'000'000;
inline constexpr std::size_t kMaxFabricLevels = 16;
inline constexpr std::size_t kMaxDifferingSites = 64;

// Of sites that differ; 1 where all of the cluster is alike.
inline std::size_t site_count(const Cluster& cluster) { return 1 + cluster.further_sites.size(); }
// The cluster as the ranks of that site see it: as many accelerators in all, its own kind of them,
// its own levels. It has no further sites.
Cluster at_site(const Cluster& cluster, std::size_t site);
// Accelerators of that site.
std::int64_t accelerators_of(const Cluster& cluster, std::size_t site);
std::string name_of(const Cluster& cluster, std::size_t site);  // "a100-80gb-sxm:512"
// Its levels, with the link.
const std::vector<FabricLevel>& levels_of(const Cluster& cluster, std::size_t site);
std::vector<FabricLevel>& levels_of(Cluster& cluster, std::size_t site);
// The same cluster with the levels of every site as `changed(site, its levels)` has them.
using ChangedLevels =
    std::function<std::vector<FabricLevel>(std::size_t site, const std::vector<FabricLevel>&)>;
Cluster with_levels(Cluster cluster, const ChangedLevels& changed);

// Refuses sites that differ for what is modelled only where all of a cluster is alike.
Result<void> check_alike(const Cluster& cluster, std::string_view what);

// A cluster by any of the names above. Errors: unknown name with the nearest known one; a
// count that is not a whole number of nodes, with the nearest two that are; more than there are.
Result<Cluster> parse_cluster(std::string_view text, const Catalog& catalog);

// The same without access to files, for names from a catalog or an untrusted text.
Result<Cluster> parse_cluster_name(std::string_view text, const Catalog& catalog);

// A cluster from a document: either what fields_of(Cluster) writes (its `accelerator` is a map), or
// a ClusterDescription that refers to the catalog.
Result<Cluster> read_cluster(const Document& document, const Catalog& catalog);

// The `cluster` of a specification: a name, {name, gpus}, or as in a file of its own.
Result<Cluster> stated_cluster(const Document& document, const Catalog& catalog);

// What some accelerators of a cluster, in ascending order, have of it beside others: the sites that
// they lie in and, of each level there, as many as are in the unit that holds most of them. Levels
// that join no more than the one inside them are left out, and so is the link where one site
// remains. What a level gives to an accelerator while all of the cluster send stays as it is.
// Errors: a number of accelerators in a site that fills no whole nodes.
Result<Cluster> part_of(const Cluster& cluster, std::span<const std::uint32_t> accelerators);

// The first so many of them, with nobody beside them: where sites differ, those of a site that are
// in the part divide its link among themselves. Errors: also more than there are.
Result<Cluster> part_of(const Cluster& cluster, std::int64_t accelerators);

// Checks that a cluster is possible; the error names the field and the numbers.
Result<void> check(const Cluster& cluster);

}  // namespace orrery
