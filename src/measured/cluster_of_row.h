// The cluster of a measured row: its accelerators in nodes of `gpus_per_node`, their network from
// `inter_node_link` or, where that gives no rate, from the convention of the source.
//
// Memory and memory bandwidth the source states for its own parts win over the catalog's:
// `accelerator_memory_gb` counts GiB where it differs from the marketed size of the catalog entry
// (memory stacks have binary sizes), and "2.4 TB/s" in `accelerator_note` is a bandwidth. Not
// modelled: power limits of the note.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "measured/expressible.h"
#include "measured/measured_row.h"
#include "measured/run_convention.h"

namespace orrery {

struct RowCluster {
  Cluster cluster;
  std::vector<std::string> assumed;
};

// Skipped: an accelerator that is not in the catalog; a count that does not fill its nodes.
Expressible<RowCluster> cluster_of_row(const MeasuredRow& row, const RunConvention& convention,
                                       const Catalog& catalog);

}  // namespace orrery
