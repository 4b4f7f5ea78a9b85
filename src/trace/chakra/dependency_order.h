// An order of things 0 to n - 1 in which each stands behind all that it waits for, the first by
// `rank` among those that could go next (without ranks, the lowest).
//
// O(edges + n log of how many could go next).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/edge_lists.h"

namespace orrery {

struct DependencyOrder {
  std::vector<std::uint32_t> order;  // of all, unless some wait for each other in a circle
  std::uint32_t stuck = 0;           // the lowest that is not in it
};

// Of every thing those that wait for it; arguments as below.
EdgeLists followers(std::span<const std::uint32_t> before, std::span<const std::uint32_t> offsets);

// Thing i waits for those at offsets[i] to offsets[i + 1] in `before`; `by_rank` has all things,
// the first first, or is empty.
DependencyOrder dependency_order(std::span<const std::uint32_t> before,
                                 std::span<const std::uint32_t> offsets,
                                 std::span<const std::uint32_t> by_rank = {});

}  // namespace orrery
