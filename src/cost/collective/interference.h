// What a running collective takes from computation beside it.
//
// A collective's kernel holds compute units (streaming multiprocessors) for as long as it runs: one
// for each channel. Computation that runs meanwhile has the rest:
//
//   share lost = min(units held, units - 1) / units
//
// Memory traffic: a rank reads what it sends and writes what it receives, and a reduction reads
// the local operand too, so a collective with bus bandwidth B (B/s) uses 2 B of memory bandwidth,
// or 3 B when it reduces.
//
// Source: units held per generation in catalog/collectives/, with theirs (NCCL channels;
// DeepSeek-V3, arXiv 2412.19437 section 3.2.2: 20 of 132). Not modelled: copy engines, which take
// no units; caches; the tail when the collective outlasts the computation.
#pragma once

#include "cost/collective/collective_parameters.h"

namespace orrery {

enum class CollectiveReach { scale_up, scale_out };

// In [0, 1). `compute_units`: those of the accelerator, positive.
double compute_share_lost(const CollectiveParameters& parameters, int compute_units,
                          CollectiveReach reach);
// The greater of both reaches.
double compute_share_lost(const CollectiveParameters& parameters, int compute_units);

// In [0, 1]: share of `memory` bandwidth that a transfer at bus bandwidth `bus` uses.
double memory_share_lost(CollectiveKind kind, BytesPerSecond bus, BytesPerSecond memory);

// Both shares of one collective that runs beside computation.
struct CommunicationInterference {
  double compute_share = 0;
  double memory_share = 0;
  auto operator<=>(const CommunicationInterference&) const = default;
};

}  // namespace orrery
