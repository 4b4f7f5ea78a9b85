// The parts of a cluster whose accelerators are alike: its sites where they differ, else all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cluster/cluster.h"

namespace orrery {

// Calls `visit(part, accelerators)` for each; `part` is the cluster as it is seen there.
template <class Visit>
void each_site(const Cluster& cluster, Visit visit) {
  if (cluster.further_sites.empty()) return visit(cluster, cluster.accelerators);
  for (std::size_t site = 0; site < site_count(cluster); ++site) {
    visit(at_site(cluster, site), accelerators_of(cluster, site));
  }
}

inline std::int64_t nodes_of(const Cluster& cluster) {
  std::int64_t out = 0;
  each_site(cluster, [&](const Cluster& part, std::int64_t accelerators) {
    out += accelerators / part.accelerators_per_node;
  });
  return out;
}

// Whose price or power is asked for, in words.
inline std::string accelerators_in_words(const Cluster& cluster) {
  return cluster.further_sites.empty() ? cluster.accelerator.name
                                       : "some accelerators of " + cluster.name;
}

}  // namespace orrery
