// Building blocks of V-shaped schedules (arXiv 2405.15362): the passes of one microbatch laid out
// on all devices, repeated for every microbatch.
//
// A device holds two chunks in a V. With F, B and W of one slot each, a microbatch takes six slots
// of every device. The block therefore repeats every six slots, and no two of its passes on one
// device may have slots that are equal modulo six. The offsets control the memory: the peak of a
// device is at most the sum over its chunks of ceil(lifespan / 6), where the lifespan is from the
// start of F to the end of W.
//
//   device i       F chunk 0   F chunk 1    B chunk 1        B chunk 0
//   V-Min          i           2p-1-i       2p+i+z           4p-1-i+z    z = 2 if 3 divides p
//   V-Half         2i          3p-2-i       3p-1+2i+z        6p-2-i+z    z = 3 if 2 divides p
//
// z = 0 otherwise.
//
// W takes free slots after its B. Then the order is executed without slots: every pass starts as
// soon as its device is free and its input is available. Checked in: building_block_test.cc.
#pragma once

#include <optional>
#include <vector>

#include "schedule/order_problem.h"

namespace orrery {

inline constexpr int kBlockPeriod = 6;

// The slots of microbatch 0 on one device.
struct BlockSlots {
  int forward[2];         // by chunk
  int input_gradient[2];  // by chunk
};
using BuildingBlock = std::vector<BlockSlots>;  // by device

BuildingBlock v_min_block(int devices);
BuildingBlock v_half_block(int devices);

// How a block proceeds from device to device: the slots (modulo six) of F of chunk 1, B of chunk 1
// and B of chunk 0 on its first device (F of chunk 0 has slot 0), and the slots by which F of chunk
// 0 and B of chunk 1 advance from one device to the next: `step` up to device `turn`, then
// `late_step`. In the opposite direction, F of chunk 1 and B of chunk 0 advance by one.
struct BlockRule {
  int forward_1 = 1, gradient_1 = 2, gradient_0 = 3;
  int step = 1, late_step = 1, turn = 0;
};
// visit(rule) for all slots of a first device that differ.
template <class Visit>
void for_each_first_device(Visit visit) {
  for (int f1 = 1; f1 < kBlockPeriod; ++f1) {
    for (int b1 = 1; b1 < kBlockPeriod; ++b1) {
      for (int b0 = 1; b0 < kBlockPeriod; ++b0) {
        if (f1 != b1 && f1 != b0 && b1 != b0) visit(BlockRule{f1, b1, b0});
      }
    }
  }
}
// Empty if two passes have the same slot on some device.
std::optional<BuildingBlock> block(int devices, const BlockRule& rule);
// All rules without such collisions, those with less memory first.
std::vector<BuildingBlock> all_blocks(int devices);

// A pass in the repeated block and its slot on the device.
struct SlottedPass {
  OrderedPass pass;
  int slot;
};
// Repeats the block for all microbatches and gives every W a slot: each free slot, in ascending
// order, takes a W whose B ended before it, chunk 1 first. The rest follow at the end, chunk 1
// first.
std::vector<std::vector<SlottedPass>> repeated(const BuildingBlock& block, int microbatches);
PassOrders orders_of(const std::vector<std::vector<SlottedPass>>& slots);

}  // namespace orrery
