// The memory of one pipeline device under a plan.
//
// Activations in flight are those of the schedule, counted at its fullest moment. The fullest
// moment of the device is then the beginning of the backward of one of its blocks, for nothing has
// been freed until the first of them:
//
//   transient = max over blocks k of ( working_k - sum of what the blocks behind k kept )
//
// with the head first, then the layers from the last to the first, then the embedding; or the
// optimizer step, if what that needs is more than all activations. ZeRO 3 adds gathered
// weights, ZeRO 2 and 3 whole gradients: of blocks, chunks or all, by shard_moves.h. A workload
// without a backward holds its weights and, of one block, what its forward works on.
#pragma once

#include <cstddef>
#include <string>

#include "cost/memory/memory.h"
#include "lower/step_costs.h"

namespace orrery {

// What memory leaves of a device. Replicas on sites that differ may have the least room by the
// expected peak in one site, and by the pessimistic one, which grows with activations, in another.
struct MemoryRoom {
  MemoryReport memory;        // where the expected peak leaves the least
  ByteCount capacity = 0;     // there
  ByteCount pessimistic = 0;  // where that leaves the least
  ByteCount least = 0;        // what it leaves there
  [[nodiscard]] ByteCount left() const { return capacity - memory.peak; }
};
MemoryRoom memory_room(const StepCosts& step, int device);
// Whether every device has the memory for it.
bool fits(const StepCosts& step);

// Its memory alone. O(chunks) if all layers are alike; the words of the report are left empty, for a
// search asks for a million of them.
MemoryReport stage_memory(const StepCosts& step, int device);

// When that peak is reached, in words.
std::string moment_in_words(const StepCosts& step, int device, const MemoryReport& memory);
// Which ranks it is the peak of, in words.
std::string rank_class_in_words(const StepCosts& step, int device);

}  // namespace orrery
