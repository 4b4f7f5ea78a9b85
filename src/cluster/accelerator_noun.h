// What one accelerator of a cluster is called in texts.
#pragma once

#include <algorithm>
#include <string_view>

#include "cluster/cluster.h"

namespace orrery {

// "GPU", or "chip" where any of them is called otherwise (TPU, Gaudi, Trainium).
inline std::string_view accelerator_noun(const Cluster& cluster) {
  const auto is_gpu = [](const Accelerator& a) { return a.kind == "gpu" || a.kind.empty(); };
  const bool all = is_gpu(cluster.accelerator) &&
                   std::ranges::all_of(cluster.further_sites,
                                       [&](const Site& s) { return is_gpu(s.accelerator); });
  return all ? "GPU" : "chip";
}

}  // namespace orrery
