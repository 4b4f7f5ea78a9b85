// What the memory of one rank holds at its fullest moment, and when that is.
//
//   peak = parameters + gradients + optimizer states + activations in flight + transient + buffers,
//          stretched by what the allocator loses
//
// Composition per rank class. Sources: ZeRO (arXiv 1910.02054 s.3), activation accounting
// (arXiv 2205.05198 s.4), in-flight microbatches from the schedule's own order. Not modelled: the
// order of allocations; fragmentation is a stated range.
#pragma once

#include <cstdint>
#include <string>

#include "units/quantity.h"

namespace orrery {

using ByteCount = std::int64_t;

struct MemoryReport {
  ByteCount parameters = 0;
  ByteCount gradients = 0;
  ByteCount optimizer_states = 0;  // master weights and moments
  ByteCount activations = 0;       // kept by microbatches in flight
  ByteCount transient = 0;         // the largest recomputed or gathered layer, logits and loss
  ByteCount buffers = 0;           // communication library, kernel workspace, context
  ByteCount fragmentation = 0;     // expected loss of the allocator
  ByteCount peak = 0;              // sum of the above: expected
  ByteCount pessimistic = 0;       // with the upper end of the allocator's loss
  std::string moment;              // "backward of microbatch 0, 16 microbatches in flight"
};

}  // namespace orrery
