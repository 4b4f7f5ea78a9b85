// What a running collective takes from computation beside it.
//
// Compute units: a collective's kernel holds units (streaming multiprocessors) for as long as it
// runs, and what runs meanwhile has the rest:
//
//   compute share lost = min(held, units - 1) / units
//
// How many depends on what runs: a ring or tree inside a node holds one unit per channel, reduction
// in the switch its own number, rings between nodes one a channel that has a network card, direct
// exchange what its kernel reserves.
//
// Memory: a rank reads what it sends and writes what it receives, and where it reduces it reads its
// own operand too. With bus bandwidth B (B/s, as nccl-tests define it)
//
//   memory share lost = min(1, 2 B / memory bandwidth),   3 B with reduction by the rank;
//
// the switch reduces for the ranks, so that each only reads its n and writes its n:
// 2 n / t of memory traffic whatever the number of ranks.
//
// Compute-bound kernels lose the former, memory-bound ones the latter; a mixture loses the mean,
// weighted by time: m is the share of time of memory-bound kernels.
//
//   share lost = (1 - m) compute share + m memory share
//
// Source: units held per generation in catalog/collectives/, with theirs; traffic by definition.
// Not modelled: copy engines, which take no units; caches; clocks under a power cap; the tail when
// the collective outlasts the computation. Checked in: interference_test.cc. No measurement of
// either share is at hand. O(1), thread-safe.
#pragma once

#include "cost/collective/collective_parameters.h"

namespace orrery {

// Both shares of one collective that runs beside computation, each in [0, 1).
struct CommunicationInterference {
  double compute_share = 0;
  double memory_share = 0;
  // Of computing of which the share `memory_bound`, in [0, 1], of the time is memory-bound.
  [[nodiscard]] double share_lost(double memory_bound) const {
    return (1 - memory_bound) * compute_share + memory_bound * memory_share;
  }
  auto operator<=>(const CommunicationInterference&) const = default;
};

// The accelerator that computes meanwhile.
struct InterferedAccelerator {
  int compute_units = 1;
  BytesPerSecond memory;
};

// Units held by a collective that runs as `algorithm` over so many nodes.
int units_held(const InterferenceParameters& parameters, CollectiveAlgorithm algorithm, int nodes);

// Traffic of device memory by one rank, in bytes.
Bytes memory_traffic(CollectiveKind kind, CollectiveAlgorithm algorithm, Bytes payload, int ranks);

// Of the collective that took `choice` over `group`. A group of one takes nothing.
CommunicationInterference communication_interference(CollectiveKind kind, Bytes payload,
                                                     const GroupShape& group,
                                                     const std::vector<FabricLevel>& levels,
                                                     const CollectiveChoice& choice,
                                                     const CollectiveParameters& parameters,
                                                     const InterferedAccelerator& accelerator);

}  // namespace orrery
