// Which ranks have contributed to a part of the data of a collective.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

class Contributions {
 public:
  explicit Contributions(std::size_t ranks) : words_((ranks + 63) / 64) {}
  void add(std::size_t rank) { words_[rank / 64] |= std::uint64_t{1} << (rank % 64); }
  [[nodiscard]] bool overlaps(const Contributions& o) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & o.words_[i]) != 0) return true;
    }
    return false;
  }
  void add(const Contributions& o) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
  }
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t w) { return w == 0; });
  }
  bool operator==(const Contributions&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace orrery
