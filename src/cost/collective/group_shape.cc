// Closed form of a shape: rank i of the group is at position i * stride, so the fullest unit of
// `domain` ranks has ceil(domain / stride) of them, but never more than there are.
#include "cost/collective/group_shape.h"

#include <algorithm>

#include "outcome/invariant.h"

namespace orrery {

GroupShape group_shape(int size, std::int64_t stride, const std::vector<std::int64_t>& domain) {
  ORRERY_INVARIANT(size >= 1);
  ORRERY_INVARIANT(stride >= 1);
  GroupShape out;
  out.size = size;
  out.members.reserve(domain.size());
  for (const std::int64_t ranks : domain) {
    ORRERY_INVARIANT(ranks >= 1);
    const std::int64_t held = (ranks - 1) / stride + 1;
    out.members.push_back(static_cast<int>(std::min<std::int64_t>(size, held)));
  }
  return out;
}

}  // namespace orrery
