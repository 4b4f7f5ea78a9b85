// Constants of the collectives of one accelerator generation, from a file of catalog/collectives/.
// Equations that use them are in ring.h, tree.h, in_switch.h, all_to_all.h and point_to_point.h;
// each file of the catalog states their sources.
//
// The form of the tables is that of NCCL's tuner: a base latency per algorithm and protocol, a
// latency per step and kind of link, and bandwidth ceilings by number of nodes. Bandwidths of links
// are not here but in FabricLevel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/host_path.h"
#include "cost/collective/collective.h"
#include "document/fields.h"
#include "graph/operation.h"
#include "units/quantity.h"

namespace orrery {

// Kinds of link that differ in the latency of one step.
enum class LinkKind { nvlink, pcie, network };

// One latency per protocol.
struct ProtocolLatencies {
  Seconds low_latency;
  Seconds low_latency_128;
  Seconds simple;
  [[nodiscard]] Seconds of(Protocol p) const {
    return p == Protocol::low_latency       ? low_latency
           : p == Protocol::low_latency_128 ? low_latency_128
                                            : simple;
  }
  bool operator==(const ProtocolLatencies&) const = default;
};

// Latency of an algorithm: base + steps over each kind of link.
struct AlgorithmLatencies {
  ProtocolLatencies base;
  ProtocolLatencies nvlink;
  ProtocolLatencies pcie;
  ProtocolLatencies network;
  [[nodiscard]] const ProtocolLatencies& of(LinkKind k) const {
    return k == LinkKind::nvlink ? nvlink : k == LinkKind::pcie ? pcie : network;
  }
  bool operator==(const AlgorithmLatencies&) const = default;
};

// A bandwidth that depends on how many nodes (scale-up domains) a group spans.
struct NodeCeiling {
  BytesPerSecond one_node;
  BytesPerSecond two_nodes;
  BytesPerSecond more_nodes;
  [[nodiscard]] BytesPerSecond of(int nodes) const {
    return nodes <= 1 ? one_node : nodes == 2 ? two_nodes : more_nodes;
  }
  bool operator==(const NodeCeiling&) const = default;
};

// Reduction in the switch (NVLink SHARP).
struct InSwitchParameters {
  Seconds step;               // inside the node
  Seconds tree_network_step;  // between nodes, of the tree that joins the nodes
  // An all-reduce over several such nodes above which only Simple is used; 0: no limit.
  Bytes low_latency_until;
  double efficiency = 0;  // share of the scale-up bandwidth; 0: not available
  int least_ranks = 2;    // per node, from which the library uses it
  NodeCeiling tree_per_channel;
  bool operator==(const InSwitchParameters&) const = default;
};

// Direct exchange: all-to-all and point to point.
struct PairwiseParameters {
  AlgorithmLatencies latency;     // low_latency_128 is not used
  Seconds peer;                   // each further peer of an all-to-all inside a node
  double efficiency = 1;          // share of the link's bandwidth
  double network_efficiency = 1;  // of an all-to-all's messages between nodes
  BytesPerSecond low_latency_ceiling;
  bool operator==(const PairwiseParameters&) const = default;
};

// Kernels that send a token once to each rank or node that needs it (token_exchange.h).
struct TokenExchangeWay {
  Seconds base{40e-6};      // launch, notification of counts, barrier
  double efficiency = 0.6;  // share of the scale-up links' bandwidth
  BytesPerSecond local;     // rate at which a rank handles its own tokens; 0: not counted
  bool operator==(const TokenExchangeWay&) const = default;
};
struct TokenExchangeParameters {
  TokenExchangeWay dispatch, combine;  // to the experts, and back
  bool operator==(const TokenExchangeParameters&) const = default;
};

// Aggregated trees, one rank per node ("PAT"). NCCL src/graph/tuning.cc, 2.23 and later: busBw *=
// .75; latency = base + log2(nodes) * step / 3.5 + 2.8 us per rank.
struct ParallelTreeParameters {
  AlgorithmLatencies latency;
  double share = 0.75;   // of the bandwidth
  double overlap = 3.5;  // steps in flight
  Seconds rank{2.8e-6};  // each rank: "still a linear part"
  bool operator==(const ParallelTreeParameters&) const = default;
};

// How well a file fits what it was fitted to. Errors are |predicted / measured - 1|.
struct CollectiveFit {
  std::string data;
  std::string date;
  int rows = 0;
  double median_error = 0;
  double p90_error = 0;
  double cross_validated_median = 0;  // rows of folds that were held out
  double cross_validated_p90 = 0;
  bool operator==(const CollectiveFit&) const = default;
};

// Compute units that a collective kernel takes away from computation that overlaps with it.
struct InterferenceParameters {
  int scale_up_units = 0;   // (SMs) occupied by rings, trees and exchange inside a node
  int in_switch_units = 0;  // by reduction in the switch of one node
  int scale_out_units = 0;  // by rings and trees between nodes
  int exchange_units = 0;   // by direct exchange between nodes
  bool operator==(const InterferenceParameters&) const = default;
};

struct CollectiveParameters {
  std::string name;
  std::string source;
  std::vector<CollectiveAlgorithm> algorithms;  // that the library may choose
  int channels = 1;                             // parallel rings; each is one compute unit
  AlgorithmLatencies ring;
  AlgorithmLatencies tree;
  ParallelTreeParameters parallel_trees;
  Seconds network_overhead;        // host, per message; three times that for Simple
  double plateau_factor = 1;       // latency of a Simple all-reduce ring between nodes
  double low_latency_share = 0.5;  // payload in what is sent: 4 of 8 bytes are flags
  double low_latency_128_share = 0.92;
  double tree_share = 0.92;
  double ring_share = 1;       // of a large transfer's bandwidth: rings and trees inside nodes
  double latency_overlap = 1;  // exponent with which steps of Simple hide behind transfers
  Bytes low_latency_until;     // a rank's part above which only Simple is used; 0: no limit
  BytesPerSecond local_copy;   // a rank's own part, read and written; 0: not counted
  NodeCeiling low_latency_total;
  NodeCeiling ring_low_latency_128_per_channel;
  NodeCeiling tree_low_latency_128_per_channel;
  NodeCeiling tree_simple_per_channel;
  InSwitchParameters in_switch;
  PairwiseParameters pairwise;
  TokenExchangeParameters token_exchange;
  HostPath host_path;  // of the server that was measured
  InterferenceParameters interference;
  std::vector<CollectiveFit> fits;  // empty: nothing is fitted
  bool operator==(const CollectiveParameters&) const = default;
};

Fields<ProtocolLatencies> fields_of(const ProtocolLatencies*);
Fields<AlgorithmLatencies> fields_of(const AlgorithmLatencies*);
Fields<NodeCeiling> fields_of(const NodeCeiling*);
Fields<InSwitchParameters> fields_of(const InSwitchParameters*);
Fields<PairwiseParameters> fields_of(const PairwiseParameters*);
Fields<TokenExchangeWay> fields_of(const TokenExchangeWay*);
Fields<TokenExchangeParameters> fields_of(const TokenExchangeParameters*);
Fields<ParallelTreeParameters> fields_of(const ParallelTreeParameters*);
Fields<CollectiveFit> fields_of(const CollectiveFit*);
Fields<InterferenceParameters> fields_of(const InterferenceParameters*);
Fields<CollectiveParameters> fields_of(const CollectiveParameters*);

// Reads one file of catalog/collectives/. Errors: those of read(); neither ring nor pairwise;
// shares outside [0.001, 1]; latencies that are negative or above a minute; bandwidths below 1
// kB/s.
Result<CollectiveParameters> read_collective_parameters(const Document& document);

// The entry of this architecture ("hopper") in catalog/collectives/, otherwise the one named
// "default"; `name` says which. Errors: neither exists; those above.
Result<CollectiveParameters> load_collective_parameters(const Catalog& catalog,
                                                        std::string_view architecture);

// The same for servers other than the measured one: PCIe cards reach each other at the rates of the
// server's HostPath, or at the rate of their links if it states none.
Result<CollectiveParameters> load_collective_parameters(const Catalog& catalog,
                                                        std::string_view architecture,
                                                        const std::optional<HostPath>& stated);

}  // namespace orrery
