// How a communication group (graph/operation.h) lies on the fabric levels of a cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operation.h"

namespace orrery {

// The shape of a group of `size` ranks that are `stride` apart, where one unit of level l holds
// `domain[l]` ranks. A group that only partly fills a unit counts its fullest unit.
GroupShape group_shape(int size, std::int64_t stride, const std::vector<std::int64_t>& domain);

}  // namespace orrery
