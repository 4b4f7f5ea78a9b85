// Where the time of one rank goes: categories that add up to the whole exactly.
#pragma once

#include <array>
#include <type_traits>

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

}  // namespace orrery
