// Where the time of one rank goes: categories that add up to the whole exactly.
#pragma once

#include <array>

#include "graph/category.h"
#include "units/picoseconds.h"

namespace orrery {

struct Breakdown {
  std::array<Picoseconds, kCategories> time{};

  Picoseconds& operator[](Category c) { return time[static_cast<std::size_t>(c)]; }
  Picoseconds operator[](Category c) const { return time[static_cast<std::size_t>(c)]; }

  [[nodiscard]] Picoseconds total() const {
    Picoseconds sum;
    for (const Picoseconds t : time) sum += t;
    return sum;
  }
  Breakdown& operator+=(const Breakdown& o) {
    for (std::size_t i = 0; i < kCategories; ++i) time[i] += o.time[i];
    return *this;
  }
  friend Breakdown operator*(Breakdown b, int n) {
    for (Picoseconds& t : b.time) t = t * n;
    return b;
  }
  bool operator==(const Breakdown&) const = default;
};

// The part of a breakdown in which nothing is computed because something is sent.
inline Picoseconds exposed_communication(const Breakdown& b) {
  Picoseconds sum;
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (is_exposed_communication(static_cast<Category>(i))) sum += b.time[i];
  }
  return sum;
}

}  // namespace orrery
