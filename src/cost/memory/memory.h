// What the memory of one rank holds at its fullest moment.
//
//   peak = parameters + gradients + optimizer states + activations in flight + transient + buffers
//          + what the allocator loses
//
// Mixed-precision state (ZeRO, arXiv 1910.02054 s.3.1): 2-byte weights, gradients in the format
// they are accumulated in, and for Adam 12 bytes (fp32 master weight and two moments) a parameter,
// each divided over the ranks its ZeRO stage shards it over. Activations: arXiv 2205.05198 s.4
// through the operators' saved tensors. Not modelled: the order of allocations; the allocator's
// loss is a stated range, applied to what is allocated and freed within a step.
#pragma once

#include <cstdint>
#include <string>

#include "units/quantity.h"

namespace orrery {

using ByteCount = std::int64_t;

// Loss of a caching allocator as a share of what it hands out. Source: reserved against allocated
// memory of 28 runs, validation/measured/simumax-b200.csv (notes): median 5.3 %, largest 7.9 %.
inline constexpr double kExpectedFragmentation = 0.053;
inline constexpr double kPessimisticFragmentation = 0.079;

// Context, communication buffers and library workspaces outside the allocator: 3.5 GB (validation/
// kernels/constants-published.csv, runtime-other-memory and nccl-buffer-memory: aiconfigurator).
inline constexpr Bytes kRuntimeBuffers{3.5e9};

struct MemoryInputs {
  double dense_parameters = 0;  // on this rank, before data-parallel sharding
  double expert_parameters = 0;
  int dense_shard = 1;  // ranks that divide a dense parameter's state
  int expert_shard = 1;
  int zero = 0;
  double gradient_bytes = 4;    // of one accumulated gradient
  double optimizer_bytes = 12;  // of one parameter's master weight and moments
  Bytes activations;            // of all microbatches in flight
  Bytes transient;              // recomputed or gathered blocks, largest at a time
  std::string moment;
};

struct MemoryReport {
  ByteCount parameters = 0;
  ByteCount gradients = 0;
  ByteCount optimizer_states = 0;  // master weights and moments
  ByteCount activations = 0;       // kept by microbatches in flight
  ByteCount transient = 0;         // the largest recomputed or gathered block
  ByteCount buffers = 0;           // communication library, workspaces, context
  ByteCount fragmentation = 0;     // expected loss of the allocator
  ByteCount peak = 0;              // sum of the above: expected
  ByteCount pessimistic = 0;       // with the upper end of the allocator's loss
  std::string moment;              // "last backward begins, 16 microbatches in flight"
};

MemoryReport memory(const MemoryInputs& inputs);

}  // namespace orrery
