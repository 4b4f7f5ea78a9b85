#include "cost/collective/in_switch.h"

#include <algorithm>

#include "cost/collective/never.h"

namespace orrery {

Seconds in_switch_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                       Protocol protocol, const CollectiveParameters& parameters) {
  const InSwitchParameters& p = parameters.in_switch;
  if (protocol != Protocol::simple || !path.reduces_in_switch || p.efficiency <= 0 ||
      path.node_ranks < p.least_ranks) {
    return kNever;
  }
  const double g = path.node_ranks;
  const BytesPerSecond inside = path.scale_up_rate * p.efficiency;
  Seconds time = p.step;
  for (const Crossing& c : path.crossings()) {
    if (c.link != LinkKind::network) time = std::max(time, c.latency);
  }
  if (kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter) {
    return path.nodes == 1 ? time + payload / inside : kNever;
  }
  if (kind != CollectiveKind::all_reduce) return kNever;
  BytesPerSecond rate = inside * (g / (g + 1));
  if (path.nodes > 1) {
    const BytesPerSecond network = path.network_rate * (path.nodes == 2 ? 2.0 : 1.0);
    const BytesPerSecond ceiling = p.tree_per_channel.of(path.nodes) * parameters.channels;
    rate = std::min(rate, std::min(network, ceiling) * 0.5);
    for (const Crossing& c : path.crossings()) {
      // Data and flag are separate messages: the card's latency counts twice, as in a Simple ring.
      if (c.link == LinkKind::network) {
        time += 2.0 * c.tree_depth * (p.tree_network_step + c.latency * 2);
      }
    }
  }
  return time + payload / rate;
}

}  // namespace orrery
