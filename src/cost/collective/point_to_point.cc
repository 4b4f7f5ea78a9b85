#include "cost/collective/point_to_point.h"

#include <algorithm>

namespace orrery {

BytesPerSecond pairwise_rate(const Crossing& crossing, Protocol protocol,
                             const CollectiveParameters& parameters) {
  const PairwiseParameters& p = parameters.pairwise;
  const double share =
      crossing.link == LinkKind::network ? p.network_efficiency : crossing.share * p.efficiency;
  if (protocol == Protocol::simple) return crossing.rate * share;
  return std::min(p.low_latency_ceiling, crossing.rate * (share * parameters.low_latency_share));
}

Seconds point_to_point(Bytes payload, const FabricLevel& level,
                       const CollectiveParameters& parameters, double crossing) {
  Crossing c;
  // The name tells the kind of link; a link of unknown name is scale-up if its switch can reduce.
  c.link = link_kind(level, level.in_switch_reduction ? 0 : 1);
  const Delivery delivered = delivery(level, crossing);
  c.latency = level.latency + delivered.repeats;
  c.rate = delivered.rate;
  const ProtocolLatencies& base = parameters.pairwise.latency.base;
  const Protocol protocol = level.ordered_delivery ? Protocol::low_latency : Protocol::simple;
  return base.of(protocol) + step_latency(parameters.pairwise.latency, c, protocol) +
         payload / c.rate;
}

}  // namespace orrery
