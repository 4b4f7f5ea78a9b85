// Where the time of one rank goes: categories that add up to the whole exactly.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "units/picoseconds.h"

namespace orrery {

// The lines of a breakdown. Where two things overlap the time belongs to computing; time in which
// nothing computes belongs to what the rank waits for.
enum class Category : unsigned char {
  attention_projection,
  attention_core,
  feed_forward,
  experts,
  router,
  normalization,
  elementwise,
  embedding,
  logits,
  loss,
  contention,  // computing slowed by communication that runs beside it
  recompute,
  optimizer,
  exposed_tp,
  exposed_cp,
  exposed_ep,
  exposed_pp,
  exposed_dp,
  bubble,
  host,
};
inline constexpr std::size_t kCategories = 20;

std::string_view name(Category c);
// True for the operator classes of computing (attention_projection ... contention).
constexpr bool is_compute(Category c) { return c <= Category::contention; }
constexpr bool is_exposed_communication(Category c) {
  return c >= Category::exposed_tp && c <= Category::exposed_dp;
}

struct Breakdown {
  std::array<Picoseconds, kCategories> time{};

  Picoseconds& operator[](Category c) { return time[static_cast<std::size_t>(c)]; }
  Picoseconds operator[](Category c) const { return time[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Picoseconds total() const;
  Breakdown& operator+=(const Breakdown& o);
  auto operator<=>(const Breakdown&) const = default;
};
Breakdown operator*(const Breakdown& b, int n);

}  // namespace orrery
