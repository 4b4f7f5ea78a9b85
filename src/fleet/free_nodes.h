// Which nodes of a cluster have how many free GPUs: constant time to find the fullest node that
// still has room, to take and to give back.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

class FreeNodes {
 public:
  FreeNodes(std::int64_t nodes, std::int64_t gpus_per_node)
      : of_(static_cast<std::size_t>(gpus_per_node) + 1),
        free_(static_cast<std::size_t>(nodes), -1),
        place_(static_cast<std::size_t>(nodes)) {
    for (std::int64_t n = nodes; n-- > 0;) set(static_cast<std::int32_t>(n), gpus_per_node);
  }

  [[nodiscard]] std::int64_t whole() const { return static_cast<std::int64_t>(of_.back().size()); }
  [[nodiscard]] std::int64_t free_of(std::int32_t node) const { return free_[at(node)]; }
  // The fullest node with that many free GPUs; -1: none.
  [[nodiscard]] std::int32_t with_room(std::int64_t gpus) const {
    for (std::size_t f = static_cast<std::size_t>(gpus); f < of_.size(); ++f) {
      if (!of_[f].empty()) return of_[f].back();
    }
    return -1;
  }
  [[nodiscard]] std::int32_t a_whole_one() const { return of_.back().back(); }
  // -1: out of the cluster.
  void set(std::int32_t node, std::int64_t free) {
    if (const std::int64_t before = free_[at(node)]; before >= 0) {
      auto& list = of_[static_cast<std::size_t>(before)];
      const std::int32_t last = list.back();
      list[place_[at(node)]] = last;
      place_[at(last)] = place_[at(node)];
      list.pop_back();
    }
    free_[at(node)] = free;
    if (free < 0) return;
    auto& list = of_[static_cast<std::size_t>(free)];
    place_[at(node)] = list.size();
    list.push_back(node);
  }

 private:
  static std::size_t at(std::int32_t node) { return static_cast<std::size_t>(node); }
  std::vector<std::vector<std::int32_t>> of_;  // nodes by their free GPUs
  std::vector<std::int64_t> free_;
  std::vector<std::size_t> place_;  // of a node in its list
};

}  // namespace orrery
