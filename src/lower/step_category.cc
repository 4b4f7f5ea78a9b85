#include "lower/step_category.h"

namespace orrery {
namespace {

CategoryClass class_of(Category c) {
  if (c == Category::exposed_pp) return CategoryClass::transfer;
  if (is_exposed_communication(c)) return CategoryClass::communication;
  if (c == Category::bubble) return CategoryClass::idle;
  return c == Category::host ? CategoryClass::host : CategoryClass::computing;
}

}  // namespace

EnumNames<Category> names_of(Category) {
  using enum Category;
  static constexpr auto kNames = std::to_array<EnumName<Category>>({
      {attention_projection, "attention_projection"},
      {attention_core, "attention_core"},
      {feed_forward, "feed_forward"},
      {experts, "experts"},
      {router, "router"},
      {normalization, "normalization"},
      {elementwise, "elementwise"},
      {embedding, "embedding"},
      {logits, "logits"},
      {loss, "loss"},
      {convolution, "convolution"},
      {contention, "contention"},
      {recompute, "recompute"},
      {optimizer, "optimizer"},
      {exposed_tp, "tp"},
      {exposed_cp, "cp"},
      {exposed_ep, "ep"},
      {exposed_pp, "pp"},
      {exposed_dp, "dp"},
      {bubble, "bubble"},
      {host, "host"},
  });
  return kNames;
}

const CategoryLabels& step_categories() {
  static const CategoryLabels kLabels = [] {
    std::vector<CategoryLabel> labels;
    for (std::size_t i = 0; i < kCategories; ++i) {
      const auto c = static_cast<Category>(i);
      labels.push_back({std::string(to_text(c)), class_of(c)});
    }
    return std::make_shared<const std::vector<CategoryLabel>>(std::move(labels));
  }();
  return kLabels;
}

}  // namespace orrery
