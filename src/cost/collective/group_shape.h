// How a communication group lies on the fabric levels of a cluster.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace orrery {

// `members[l]`: ranks of the group inside one unit of fabric level l (so members.back() == size for
// a group that fits the cluster). A group of 16 tensor- and context-parallel ranks over two 8-GPU
// nodes is {8, 16}; 128 data-parallel replicas, one per node, {1, 128}.
struct GroupShape {
  int size = 1;
  std::vector<int> members;
  auto operator<=>(const GroupShape&) const = default;
};

// The shape of a group of `size` ranks that are `stride` apart, where one unit of level l holds
// `domain[l]` ranks. A group that only partly fills a unit counts its fullest unit.
GroupShape group_shape(int size, std::int64_t stride, const std::vector<std::int64_t>& domain);

}  // namespace orrery
