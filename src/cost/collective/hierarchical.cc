#include "cost/collective/hierarchical.h"

#include <algorithm>

#include "cost/collective/never.h"

namespace orrery {

Seconds hierarchical_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                          Protocol protocol, const CollectiveParameters& parameters,
                          const HierarchicalOptions& options) {
  if (kind == CollectiveKind::all_to_all || kind == CollectiveKind::broadcast) return kNever;
  const double rounds = kind == CollectiveKind::all_reduce ? 2 : 1;
  const double share = protocol == Protocol::low_latency       ? parameters.low_latency_share
                       : protocol == Protocol::low_latency_128 ? parameters.low_latency_128_share
                                                               : 1;
  Seconds time = parameters.ring.base.of(protocol);
  Seconds sum;
  Seconds greatest;
  const std::span<const Crossing> crossings = path.crossings();
  for (const Crossing& c : crossings) {
    if (c.link == LinkKind::pcie && protocol == Protocol::low_latency_128) return kNever;
    const int units = (c.outer + c.inner - 1) / c.inner;
    const bool tree = options.outermost == Outermost::tree && &c == &crossings.back();
    time += rounds * (tree ? c.tree_depth : units - 1) * step_latency(parameters.ring, c, protocol);
    const Seconds transfer = rounds * (units - 1) / units *
                             (payload / static_cast<double>(c.inner)) /
                             (c.rate * (c.share * share));
    sum += transfer;
    greatest = std::max(greatest, transfer);
  }
  if (options.phases == Phases::in_sequence) return time + sum;
  return time + greatest + (sum - greatest) / static_cast<double>(options.chunks);
}

Seconds hierarchical_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                          Protocol protocol, const CollectiveParameters& parameters) {
  return hierarchical_time(kind, payload, path, protocol, parameters, HierarchicalOptions{});
}

}  // namespace orrery
