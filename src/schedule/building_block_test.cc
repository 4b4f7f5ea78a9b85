// Building blocks do not collide, and hold what the literature says.
#include "schedule/building_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedule/v_schedule.h"

namespace orrery {
namespace {

void expect_no_collision(const BuildingBlock& block) {
  for (const BlockSlots& s : block) {
    const std::set<int> slots = {s.forward[0] % kBlockPeriod, s.forward[1] % kBlockPeriod,
                                 s.input_gradient[0] % kBlockPeriod,
                                 s.input_gradient[1] % kBlockPeriod};
    EXPECT_EQ(slots.size(), 4u);
  }
}

double peak_units(const BuildingBlock& block, int microbatches) {
  const PipelineShape shape{static_cast<int>(block.size()), microbatches, 2};
  OrderProblem problem =
      order_problem(shape, snake_virtual_stage,
                    equal_times(shape, Picoseconds(1), Picoseconds(1), Picoseconds(1)), 1e9);
  limit_to(problem, block);
  return *std::max_element(problem.limit.begin(), problem.limit.end());
}

// arXiv 2405.15362 Table 1, in halves of a microbatch.
TEST(BuildingBlock, HoldsItsShareOfMemory) {
  for (int p = 2; p <= 24; ++p) {
    SCOPED_TRACE(p);
    expect_no_collision(v_min_block(p));
    expect_no_collision(v_half_block(p));
    EXPECT_LE(peak_units(v_min_block(p), 4 * p), 2 * ((p + 4) / 3));
    EXPECT_LE(peak_units(v_half_block(p), 4 * p), 2 * ((p + 2) / 2));
    EXPECT_LE(peak_units(least_memory_block({p, 4 * p, 2}, 5), 4 * p), 2 * p);
  }
}

TEST(BuildingBlock, RulesGiveBlocksInDependencyOrder) {
  for (const int p : {1, 2, 5, 8}) {
    const auto all = all_blocks(p);
    EXPECT_GE(all.size(), 60u * (p == 1 ? 1 : 2) / 2);
    for (const BuildingBlock& block : all) {
      expect_no_collision(block);
      for (std::size_t i = 0; i + 1 < block.size(); ++i) {
        EXPECT_LT(block[i].forward[0], block[i + 1].forward[0]);
        EXPECT_GT(block[i].forward[1], block[i + 1].forward[1]);
        EXPECT_LT(block[i].input_gradient[1], block[i + 1].input_gradient[1]);
        EXPECT_GT(block[i].input_gradient[0], block[i + 1].input_gradient[0]);
      }
      EXPECT_LT(block.back().forward[0], block.back().forward[1]);
      EXPECT_LT(block.front().forward[1], block.front().input_gradient[1]);
      EXPECT_LT(block.back().input_gradient[1], block.back().input_gradient[0]);
    }
  }
}

}  // namespace
}  // namespace orrery
