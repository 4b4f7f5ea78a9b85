#include "trace/chakra/dependency_order.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace orrery {

EdgeLists followers(std::span<const std::uint32_t> before, std::span<const std::uint32_t> offsets) {
  return {offsets.size() - 1, [&](const auto& add) {
            for (std::uint32_t i = 0; i + 1 < offsets.size(); ++i) {
              for (std::uint32_t e = offsets[i]; e < offsets[i + 1]; ++e) add(before[e], i);
            }
          }};
}

DependencyOrder dependency_order(std::span<const std::uint32_t> before,
                                 std::span<const std::uint32_t> offsets,
                                 std::span<const std::uint32_t> by_rank) {
  const auto size = static_cast<std::uint32_t>(offsets.size() - 1);
  std::vector<std::uint32_t> rank(by_rank.size());
  for (std::uint32_t r = 0; r < by_rank.size(); ++r) rank[by_rank[r]] = r;
  const EdgeLists behind = followers(before, offsets);
  std::vector<std::uint32_t> missing(size);
  for (std::uint32_t i = 0; i < size; ++i) missing[i] = offsets[i + 1] - offsets[i];
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  const auto add = [&](std::uint32_t i) {
    if (missing[i] == 0) ready.push(rank.empty() ? i : rank[i]);
  };
  for (std::uint32_t i = 0; i < size; ++i) add(i);
  DependencyOrder out;
  out.order.reserve(size);
  while (!ready.empty()) {
    const std::uint32_t i = rank.empty() ? ready.top() : by_rank[ready.top()];
    ready.pop();
    out.order.push_back(i);
    for (const std::uint32_t follower : behind[i]) {
      --missing[follower];
      add(follower);
    }
  }
  const auto stuck = std::ranges::find_if(missing, [](auto n) { return n > 0; });
  out.stuck = static_cast<std::uint32_t>(stuck - missing.begin());
  return out;
}

}  // namespace orrery
