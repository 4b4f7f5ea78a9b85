#include "cost/collective/point_to_point.h"

#include <algorithm>

namespace orrery {

BytesPerSecond pairwise_rate(BytesPerSecond link, Protocol protocol,
                             const CollectiveParameters& parameters) {
  const PairwiseParameters& p = parameters.pairwise;
  if (protocol == Protocol::simple) return link * p.efficiency;
  return std::min(p.low_latency_ceiling, link * parameters.low_latency_share);
}

Seconds point_to_point(Bytes payload, const FabricLevel& level,
                       const CollectiveParameters& parameters) {
  Crossing c;
  // A level between two ranks is the innermost if it is of a scale-up kind; its name tells.
  c.link = link_kind(level, level.accelerators > 0 && level.in_switch_reduction ? 0 : 1);
  c.latency = level.latency;
  c.rate = level.bandwidth * (level.efficiency / level.oversubscription);
  if (c.link == LinkKind::network) c.rate *= parameters.network_share;
  const auto time = [&](Protocol protocol) {
    return parameters.pairwise.latency.base.of(protocol) +
           step_latency(parameters.pairwise.latency, c, protocol) +
           payload / pairwise_rate(c.rate, protocol, parameters);
  };
  return std::min(time(Protocol::low_latency), time(Protocol::simple));
}

}  // namespace orrery
