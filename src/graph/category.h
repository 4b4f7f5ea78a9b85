// The lines of a breakdown: what the time of an operation is booked on.
#pragma once

#include <cstddef>
#include <string_view>

namespace orrery {

// Where two things overlap the time belongs to computing; time in which nothing computes belongs to
// what the rank waits for.
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

// The operator classes of computing (attention_projection ... contention).
constexpr bool is_compute(Category c) { return c <= Category::contention; }
constexpr bool is_exposed_communication(Category c) {
  return c >= Category::exposed_tp && c <= Category::exposed_dp;
}

}  // namespace orrery
