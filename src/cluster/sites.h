// Several sites as one cluster: the fabric levels of a site, and one more for the link between them.
//
// An accelerator sends over the link no faster than into the network of its own site, and all of a
// site that send at once divide the link: the level has the bandwidth of the network inside, and
//
//   oversubscription = accelerators of a site * bandwidth * efficiency / bandwidth of the link
//
// (at least 1), so that a cut which few accelerators cross gives each of them more
// (cluster/fabric_level.h). A site without a network of its own divides the link evenly. Sites may
// differ in size, accelerator, nodes and network: each then sees the link in this way, and what
// crosses it takes as long as at the slower end.
#pragma once

#include <string_view>

#include "cluster/cluster_description.h"

namespace orrery {

// The cluster of a description with `sites`. Errors: fields that only one site can have; a site that
// is unknown or differs from the first; a link whose bandwidth or round trip time is not known.
Result<Cluster> build_sites(const ClusterDescription& description, const Catalog& catalog);

// "h100-sxm:1024+h100-sxm:1024@metro-pair": sites joined by a link of the catalog. Errors: as
// build_sites; sites without a link.
Result<Cluster> parse_sites(std::string_view text, const Catalog& catalog);

}  // namespace orrery
