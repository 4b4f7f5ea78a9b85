// How much a running collective slows computation that overlaps with it.
//
// Compute units: a collective's kernel occupies units (streaming multiprocessors) as long as it
// runs, and computation has the rest:
//
//   compute share lost = min(occupied, units - 1) / units
//
// How many depends on what runs: a ring or tree inside a node occupies one unit per channel,
// reduction in the switch its own number, rings between nodes one a channel that has a network
// card, direct exchange what its kernel reserves.
//
// Memory: a rank reads what it sends and writes what it receives, and where it reduces it reads its
// own operand too. With bus bandwidth B (B/s, as nccl-tests define it)
//
//   memory share lost = min(1, 2 B / memory bandwidth),   3 B with reduction by the rank;
//
// the switch reduces for the ranks, so that each only reads its n and writes its n:
// 2 n / t of memory traffic whatever the number of ranks.
//
// Compute-bound kernels lose the former, memory-bound ones the latter. A mixture loses the mean
// weighted by time, where m is the share of time of memory-bound kernels:
//
//   share lost = (1 - m) compute share + m memory share
//
// Source: the units of each generation are in catalog/collectives/, with their sources; traffic by
// definition.
// Not modelled: copy engines, which take no units; caches; clocks under a power cap; the tail when
// the collective outlasts the computation. Checked in: interference_test.cc. No measurement of
// either share is available. O(1), thread-safe.
#pragma once

#include "cost/collective/collective_parameters.h"

namespace orrery {

// Both shares that computation loses to one collective, each in [0, 1).
struct CommunicationInterference {
  double compute_share = 0;
  double memory_share = 0;
  // The share lost by computation that is memory-bound for the share `memory_bound` of its time.
  [[nodiscard]] double share_lost(double memory_bound) const {
    return (1 - memory_bound) * compute_share + memory_bound * memory_share;
  }
  auto operator<=>(const CommunicationInterference&) const = default;
};

// The accelerator that computes.
struct InterferedAccelerator {
  int compute_units = 1;
  BytesPerSecond memory;
};

// Units occupied by a collective that runs as `algorithm` over that many nodes.
int units_held(const InterferenceParameters& parameters, CollectiveAlgorithm algorithm, int nodes);

// Traffic of device memory by one rank, in bytes.
Bytes memory_traffic(CollectiveKind kind, CollectiveAlgorithm algorithm, Bytes payload, int ranks);

// The interference of the collective `choice` over `group`; none for a group of one rank.
CommunicationInterference communication_interference(CollectiveKind kind, Bytes payload,
                                                     const GroupShape& group,
                                                     const std::vector<FabricLevel>& levels,
                                                     const CollectiveChoice& choice,
                                                     const CollectiveParameters& parameters,
                                                     const InterferedAccelerator& accelerator);

}  // namespace orrery
