// The path of a collective through the fabric: the levels its group crosses, how often, and with
// which bandwidth.
//
// In a ring that follows the placement, a rank's neighbour lies in the same unit of level l-1,
// except once per unit. With m[l] members in one unit of level l (m[-1] = 1) and P ranks, one
// traversal of P-1 hops has
//
//   hops[l] = ceil(P / m[l-1]) - ceil(P / m[l])        hops between ranks whose innermost common
//                                                      level is l,
//
// and a unit of level l-1 sends through the m[l-1] links of its members, so that the bandwidth of
// one ring is  min over l of m[l-1] * b[l],  b = share * bandwidth * efficiency / oversubscription
// of one accelerator (B/s), share the ring_share of the parameters inside nodes and 1 between them.
// This is NCCL's flat ring with one network card per accelerator (many channels, each leaving the
// node by another card).
//
// Accelerators on PCIe that do not share a switch exchange data through the host's memory: their b
// is at most that of CollectiveParameters::host_path. Source: L40S rows of
// validation/kernels/nccl-collectives-measured.csv: 20, 5.1 and 1.5 GB/s of bus bandwidth with 2, 4
// and 8 members, so that the total rate through the host stays the same from 4 to 8.
//
// Not modelled: pairs of a group that are not neighbours on PCIe (counted as direct); network cards
// left idle by accelerators of the node that are outside the group; uneven placement (a group that
// only partly fills a unit counts its fullest unit).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "cluster/fabric_level.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/group_shape.h"

namespace orrery {

// As many as a cluster has levels.
inline constexpr std::size_t kMaxCrossings = 16;

struct Crossing {
  LinkKind link = LinkKind::network;
  int inner = 1;                      // members of the group in one unit below this level
  int outer = 1;                      // members in one unit of this level
  int hops = 0;                       // of one ring traversal
  int tree_depth = 0;                 // of a binary tree over the units below this level
  Seconds latency;                    // the level's own
  BytesPerSecond rate;                // of one accelerator, after efficiency and oversubscription
  double share = 1;                   // of it that rings and trees reach
  const FabricLevel* port = nullptr;  // the level, where its transport states a buffer
};

// The part of a crossing's rate that is left when `senders` accelerators send to one at once: incast
// (cluster/transport.h).
double share_under_incast(const Crossing& crossing, double senders);

struct CommunicationPath {
  int ranks = 1;
  int nodes = 1;                   // scale-up domains that the group spans
  int node_ranks = 1;              // members in one of them
  bool reduces_in_switch = false;  // the switches can, and the library lets them
  bool ordered_delivery = true;    // on every level crossed
  BytesPerSecond ring_rate;        // least m[l-1] * b[l] of all levels crossed
  BytesPerSecond scale_up_rate;    // the same, levels inside the node only
  BytesPerSecond network_rate;     // the same, levels outside only
  std::array<Crossing, kMaxCrossings> storage;
  std::size_t count = 0;
  [[nodiscard]] std::span<const Crossing> crossings() const { return {storage.data(), count}; }
};

// The kind of link a level is made of, by its name: "pcie..." is PCIe; scale-up fabrics ("nvlink",
// "nvswitch", "infinity-fabric", "ici", "xgmi", "neuronlink", "scale-up") behave as NVLink;
// "infiniband", "ethernet", "roce", "efa" and "wide-area" are network. Other names, and a
// "-mesh" of Ethernet: level 0 is scale-up, the rest network.
LinkKind link_kind(const FabricLevel& level, std::size_t index);

// Only levels that the group crosses are in the path. The group must fit: members.back() == size.
CommunicationPath communication_path(const GroupShape& group,
                                     const std::vector<FabricLevel>& levels,
                                     const CollectiveParameters& parameters);

// One step over a crossing: inside a node the table's, but at least the level's own latency;
// between nodes the table's and the level's latency, the latter twice for Simple (data and flag
// are separate messages; NCCL adds the card's latency likewise).
Seconds step_latency(const AlgorithmLatencies& table, const Crossing& crossing, Protocol protocol);

// Whether the library would still use a low-latency protocol: a rank's part payload / P is at most
// low_latency_until, and an all-reduce over several nodes that reduce in their switches at most
// in_switch.low_latency_until. There NCCL's tuner takes the tree between switches, whose nominal
// latency (graph/tuning.cc, hwLatencies) is shorter than the measured one.
bool low_latency_allowed(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                         const CollectiveParameters& parameters);

// Combines the latency of steps with the transfer of bytes where both partly overlap:
//   (steps^e + transfer^e)^(1/e),   e >= 1;   e = 1: one after the other.
// At least the greater of both, at most their sum; monotone in both.
Seconds overlapped(Seconds steps, Seconds transfer, double exponent);

}  // namespace orrery
