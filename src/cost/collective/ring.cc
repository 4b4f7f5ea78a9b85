#include "cost/collective/ring.h"

#include <algorithm>

#include "cost/collective/never.h"

namespace orrery {
namespace {

// The plateau of Simple appears from this many bytes per rank and channel on (NCCL's tuner).
constexpr Bytes kPlateauFrom{64};

int ring_steps(CollectiveKind kind, int ranks) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (ranks - 1);
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return ranks - 1;
    case CollectiveKind::broadcast:
      return ranks;
    case CollectiveKind::all_to_all:
      break;
  }
  return 0;
}

Seconds ring_steps_latency(CollectiveKind kind, const CommunicationPath& path, Protocol protocol,
                           const CollectiveParameters& parameters) {
  const double rounds = kind == CollectiveKind::all_reduce ? 2 : 1;
  const Seconds overhead = path.nodes == 1                ? Seconds(0)
                           : protocol == Protocol::simple ? parameters.network_overhead * 3
                                                          : parameters.network_overhead;
  Seconds out;
  for (const Crossing& c : path.crossings()) {
    Seconds step = step_latency(parameters.ring, c, protocol);
    if (c.link != LinkKind::network) step = std::max(step, overhead);
    out += rounds * c.hops * step;
  }
  return out;
}

}  // namespace

Seconds ring_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                  Protocol protocol, const CollectiveParameters& parameters) {
  if (kind == CollectiveKind::all_to_all) return kNever;
  if (protocol != Protocol::simple && !low_latency_allowed(kind, payload, path, parameters)) {
    return kNever;
  }
  BytesPerSecond rate = path.ring_rate;
  if (protocol == Protocol::low_latency) {
    rate =
        std::min(parameters.low_latency_total.of(path.nodes), rate * parameters.low_latency_share);
  } else if (protocol == Protocol::low_latency_128) {
    for (const Crossing& c : path.crossings()) {
      if (c.link == LinkKind::pcie) return kNever;
    }
    rate = std::min(rate * parameters.low_latency_128_share,
                    parameters.ring_low_latency_128_per_channel.of(path.nodes) *
                        static_cast<double>(parameters.channels));
  }
  rate *= static_cast<double>(path.ranks) / ring_steps(kind, path.ranks);

  Seconds base = parameters.ring.base.of(protocol);
  Seconds steps = ring_steps_latency(kind, path, protocol, parameters);
  if (protocol == Protocol::simple && kind == CollectiveKind::all_reduce && path.nodes > 1 &&
      payload / (static_cast<double>(parameters.channels) * path.ranks) >= kPlateauFrom) {
    base *= parameters.plateau_factor;
    steps *= parameters.plateau_factor;
  }
  // Measured inside a node only.
  const double exponent =
      protocol == Protocol::simple && path.nodes == 1 ? parameters.latency_overlap : 1;
  Seconds time = base + overlapped(steps, payload / rate, exponent);
  if (kind != CollectiveKind::broadcast && parameters.local_copy > BytesPerSecond(0)) {
    time += payload / static_cast<double>(path.ranks) / parameters.local_copy;
  }
  return time;
}

}  // namespace orrery
