// Where the time of one rank goes: categories that add up to the whole exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "graph/category.h"
#include "units/picoseconds.h"

namespace orrery {

struct Breakdown {
  std::array<Picoseconds, kMostCategories> time{};

  // By CategoryIndex, or by the enumeration of whoever named the categories.
  template <class Category>
    requires std::is_enum_v<Category>
  Picoseconds& operator[](Category c) {
    return time[static_cast<std::size_t>(c)];
  }
  template <class Category>
    requires std::is_enum_v<Category>
  Picoseconds operator[](Category c) const {
    return time[static_cast<std::size_t>(c)];
  }

  [[nodiscard]] Picoseconds total() const {
    Picoseconds sum;
    for (const Picoseconds t : time) sum += t;
    return sum;
  }
  Breakdown& operator+=(const Breakdown& o) {
    for (std::size_t i = 0; i < kMostCategories; ++i) time[i] += o.time[i];
    return *this;
  }
  friend Breakdown operator*(Breakdown b, int n) {
    for (Picoseconds& t : b.time) t = t * n;
    return b;
  }
  bool operator==(const Breakdown&) const = default;
};

// The index of `b` in a table that has it among its last eight entries, or behind which it is added:
// most runs repeat the one before, and the table stays small.
inline std::uint32_t index_in(std::vector<Breakdown>& table, const Breakdown& b) {
  const std::size_t oldest = table.size() > 8 ? table.size() - 8 : 0;
  for (std::size_t i = oldest; i < table.size(); ++i) {
    if (table[i] == b) return static_cast<std::uint32_t>(i);
  }
  table.push_back(b);
  return static_cast<std::uint32_t>(table.size() - 1);
}

}  // namespace orrery
