// The memory of one rank at its fullest moment.
//
//   allocated = parameters + gradients + optimizer states + activations in flight + transient
//               + buffers of the framework
//   peak      = allocated + rounding of the allocator + what lies outside it   (expected)
//   pessimistic: the allocator never gives back what it has cached
//
// Mixed-precision state (ZeRO, arXiv 1910.02054 s.3.1): 2-byte weights, gradients in the format
// they are accumulated in, and for Adam 12 bytes (fp32 master weight and two moments) a parameter,
// each divided over the ranks its ZeRO stage shards it over; gradients narrower than fp32 have an
// fp32 copy during the optimizer step. Gradients that take the place of 16-bit weights need none of
// their own, nor a copy: 2 + 12 bytes a parameter (PatrickStar, arXiv 2108.05818 s.6). Frameworks
// that keep fp32 weights alone have no 16-bit ones to replace. Frozen parameters are weights and
// nothing else. Activations: arXiv 2205.05198 s.4 through the operators' saved tensors. What a
// framework keeps in addition is in memory_facts.h.
//
// A caching allocator asks the driver for more only when no cached block is large enough, and gives
// cached blocks back only when the driver has none left (PyTorch, c10/cuda/CUDACachingAllocator).
// While there is free memory it therefore reserves more than is allocated; when there is none, it
// needs little more than is allocated, at the cost of synchronous frees. Between the two a plan is
// "tight". Not modelled: the order of single allocations.
#pragma once

#include <cstdint>
#include <string>

#include "cost/memory/memory_facts.h"
#include "cost/memory/rank_parameters.h"
#include "units/quantity.h"

namespace orrery {

using ByteCount = std::int64_t;

// Rounding: blocks to 512 bytes, segments to 2 MiB above 10 MiB and to 20 MiB below
// (CUDACachingAllocator: kMinBlockSize, kRoundLarge, kLargeBuffer): about 1 % for tensors of some
// ten MiB.
inline constexpr double kRounding = 0.01;

// Memory cached beyond what is allocated, as a share of what is allocated and freed within a step,
// while memory is plentiful. Source: reserved less allocated over activations and transients of the
// eight plans of validation/measured/simumax-b200.csv that differ: 0.21 to 0.35, median 0.27. With
// expandable segments freed pages serve any size; what remains is the share of the torchtitan rows.
inline constexpr double kCached = 0.27;
inline constexpr double kCachedExpandable = 0.05;

// Context, kernels and libraries of one process, and what the driver withholds: an idle PyTorch
// process uses about 0.5 GiB, and an "80 GiB" A100 shows 79.35 GiB.
inline constexpr Bytes kContext{1.15 * 1024 * 1024 * 1024};
// Buffers of one NCCL communicator: 544 MB for two ranks, 688 MB for more (github.com/NVIDIA/nccl
// issue 964, A100 with NVLink).
inline constexpr Bytes kCommunicator{688e6};

// The moment of a step at which memory is fullest.
enum class MemoryMoment { backward, recomputation, head, embedding, optimizer };

struct MemoryInputs {
  RankParameters trained;
  RankParameters frozen;    // without gradients and optimizer states
  RankTables tables = {};   // embedding tables
  double frozen_bytes = 2;  // of one of them
  double weight_bytes = 2;  // of one trained; of 4 and more it is its own master
  int dense_shard = 1;      // ranks that divide a dense parameter's state
  int expert_shard = 1;
  double state_share = 1;  // of these shards, what the rank holds over the mean
  // Of these the ranks that divide a dense parameter's weight, and its gradient; 0: all.
  int weight_shard = 0;
  int gradient_shard = 0;
  int zero = 0;
  double gradient_bytes = 4;  // of one accumulated gradient
  bool gradients_in_place = false;
  double optimizer_bytes = 12;  // of one parameter's master weight and moments
  int weight_versions = 1;      // copies of 16-bit weights, for asynchronous schedules
  Bytes activations;            // of all microbatches in flight
  Bytes transient;              // at the fullest moment of forward and backward
  MemoryMoment moment = MemoryMoment::backward;
  Bytes separate;  // other large transients, each at a moment of its own
  Bytes buffers;   // of the framework, from the allocator
  int communicators = 0;
  // What lies outside: the part of the optimizer's states, with the gradients that it owns; weights.
  double optimizer_outside = 0;
  bool weights_outside = false;
  double secondary_bytes = 0;  // of a second copy of the weights, of one parameter of the rank
  MemoryFacts facts;
};

struct MemoryReport {
  ByteCount parameters = 0;
  ByteCount gradients = 0;
  ByteCount optimizer_states = 0;  // master weights and moments
  ByteCount activations = 0;       // kept by microbatches in flight
  ByteCount transient = 0;         // what exists only at the fullest moment
  ByteCount buffers = 0;           // of the framework, communication library and context
  ByteCount fragmentation = 0;     // rounding of the allocator
  ByteCount peak = 0;              // sum of the above: expected
  ByteCount pessimistic = 0;       // if the allocator gives nothing back
  ByteCount outside = 0;           // part of `buffers` that allocator statistics do not show
  MemoryMoment moment_kind = MemoryMoment::backward;
  std::string moment;      // "the backward of the head begins, 4 microbatches in flight"
  std::string rank_class;  // which ranks these are

  // The figures that the framework's own statistics show.
  [[nodiscard]] ByteCount allocated() const { return peak - fragmentation - outside; }
  [[nodiscard]] ByteCount reserved() const { return pessimistic - outside; }
};

// Whether gradients lie where 16-bit weights did.
bool replace_weights(const MemoryInputs& inputs);

// Bytes of one gradient, as it is kept until the optimizer step.
double bytes_of_gradient(const MemoryInputs& inputs);

MemoryReport memory(const MemoryInputs& inputs);

}  // namespace orrery
