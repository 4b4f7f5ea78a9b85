#include "cost/collective/all_to_all.h"

#include <algorithm>

#include "cost/collective/never.h"
#include "cost/collective/point_to_point.h"

namespace orrery {

AllToAllTimes all_to_all_times(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                               Protocol protocol, const CollectiveParameters& parameters) {
  if (kind != CollectiveKind::all_to_all || protocol == Protocol::low_latency_128) {
    return {kNever, kNever};
  }
  const PairwiseParameters& p = parameters.pairwise;
  const double ranks = path.ranks;
  const double node_ranks = path.node_ranks;
  const double nodes = path.nodes;

  Seconds inside_step;
  Seconds outside_step;
  Seconds inside;   // transfer over the scale-up links
  Seconds outside;  // over the network, from every rank to every other
  Seconds grouped;  // the same, from one rank of a node for all of them
  BytesPerSecond inside_rate;
  for (const Crossing& c : path.crossings()) {
    const Seconds step = step_latency(p.latency, c, protocol);
    const BytesPerSecond rate = pairwise_rate(c, protocol, parameters);
    const Seconds transfer = payload * ((ranks - c.inner) / ranks) / rate;
    if (c.link == LinkKind::network) {
      outside_step = std::max(outside_step, step);
      outside = std::max(outside, transfer / share_under_incast(c, ranks - node_ranks));
      grouped = std::max(grouped, transfer / share_under_incast(c, nodes - 1));
    } else {
      // Only bytes for the rank's own node stay on these links.
      const Seconds local = payload * ((c.outer - c.inner) / ranks) / rate;
      inside_step = std::max(inside_step, step);
      inside = std::max(inside, path.nodes == 1 ? transfer : local);
      inside_rate = rate;
    }
  }
  const Seconds own = parameters.local_copy > BytesPerSecond(0)
                          ? payload / ranks / parameters.local_copy
                          : Seconds(0);

  const Seconds latency = p.latency.base.of(protocol) + (node_ranks - 1) * p.peer + own;
  const auto alike = [](Seconds time) { return AllToAllTimes{time, time}; };
  if (path.nodes == 1) return alike(latency + inside_step + inside);
  const Seconds overhead = parameters.network_overhead;
  const Seconds direct = outside_step + (ranks - node_ranks) * overhead + std::max(inside, outside);
  if (path.node_ranks == 1) return alike(latency + direct);
  const Seconds relayed_bytes =
      payload * ((ranks - node_ranks) / ranks * (node_ranks - 1) / node_ranks) / inside_rate;
  const Seconds aggregated = outside_step + inside_step + (nodes - 1) * overhead +
                             std::max(inside + relayed_bytes, grouped);
  return {latency + direct, latency + aggregated};
}

Seconds all_to_all_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                        Protocol protocol, const CollectiveParameters& parameters) {
  const AllToAllTimes times = all_to_all_times(kind, payload, path, protocol, parameters);
  return std::min(times.direct, times.aggregated);
}

}  // namespace orrery
