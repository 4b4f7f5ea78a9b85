// The lines of a training step's breakdown, as the lowering names them.
#pragma once

#include <cstddef>

#include "graph/graph.h"
#include "outcome/enum_names.h"
#include "timeline/breakdown.h"

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
  convolution,
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
inline constexpr std::size_t kCategories = 21;
static_assert(kCategories <= kMostCategories);

EnumNames<Category> names_of(Category);
inline CategoryIndex index(Category c) { return static_cast<CategoryIndex>(c); }
// Names and classes of them all, for the graph of a step or of a block.
const CategoryLabels& step_categories();

// The operator classes of computing (attention_projection ... contention).
constexpr bool is_compute(Category c) { return c <= Category::contention; }
constexpr bool is_exposed_communication(Category c) {
  return c >= Category::exposed_tp && c <= Category::exposed_dp;
}

// The part of a breakdown in which nothing is computed because something is sent.
inline Picoseconds exposed_communication(const Breakdown& b) {
  Picoseconds sum;
  for (std::size_t i = 0; i < kCategories; ++i) {
    if (is_exposed_communication(static_cast<Category>(i))) sum += b.time[i];
  }
  return sum;
}

}  // namespace orrery
