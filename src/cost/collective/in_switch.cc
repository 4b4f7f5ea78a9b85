#include "cost/collective/in_switch.h"

#include <algorithm>
#include <array>
#include <span>

#include "cost/collective/never.h"

namespace orrery {
namespace {

// A piece that the kernel sends at a time, on one channel, for one rank of the node: the chunk size
// of NCCL, which small payloads make smaller so that there are several pieces in flight.
struct ChunkRule {
  double pieces;  // fewer of the chunk below, and
  Bytes chunk;    // the chunk is at most this
};
constexpr Bytes kKibibyte{1024};
constexpr std::array kOneNode = {ChunkRule{64, kKibibyte * 64}, ChunkRule{8, kKibibyte * 32},
                                 ChunkRule{2, kKibibyte * 16}};
constexpr std::array kSeveralNodes = {ChunkRule{4, kKibibyte * 64}, ChunkRule{1, kKibibyte * 32}};

// Bytes that all channels send for all ranks of a node before the next stage begins.
Bytes bytes_in_flight(Bytes payload, double channels, const CommunicationPath& path) {
  const double parts = channels * path.node_ranks;
  Bytes chunk = kKibibyte * (path.nodes >= 4 ? 64 : 128);
  for (const ChunkRule& rule : path.nodes == 1 ? std::span<const ChunkRule>(kOneNode)
                                               : std::span<const ChunkRule>(kSeveralNodes)) {
    if (payload < chunk * (rule.pieces * parts)) chunk = std::min(chunk, rule.chunk);
  }
  return std::min(payload, chunk * parts);
}

}  // namespace

Seconds in_switch_time(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                       Protocol protocol, const CollectiveParameters& parameters) {
  const InSwitchParameters& p = parameters.in_switch;
  if (protocol != Protocol::simple || !path.reduces_in_switch) return kNever;
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
  const Bytes in_flight = bytes_in_flight(payload, parameters.channels, path);
  BytesPerSecond rate = inside * (g / (g + 1));
  Seconds stages = in_flight / rate * 2;  // reduced, and sent back
  if (path.nodes > 1) {
    const BytesPerSecond network = path.network_rate * (path.nodes == 2 ? 2.0 : 1.0);
    const BytesPerSecond ceiling = p.tree_per_channel.of(path.nodes) * parameters.channels;
    const BytesPerSecond hop = std::min(network, ceiling) * 0.5;
    rate = std::min(rate, hop);
    for (const Crossing& c : path.crossings()) {
      // Data and flag are separate messages: the card's latency counts twice, as in a Simple ring.
      if (c.link == LinkKind::network) {
        time += 2.0 * c.tree_depth * (p.tree_network_step + c.latency * 2);
        stages += in_flight / hop * (2.0 * c.tree_depth);
      }
    }
  }
  return time + stages + (payload - in_flight) / rate;
}

}  // namespace orrery
