#include "lower/step_category.h"

#include <array>

namespace orrery {
namespace {

constexpr std::array<std::string_view, kCategories> kNames = {"attention_projection",
                                                              "attention_core",
                                                              "feed_forward",
                                                              "experts",
                                                              "router",
                                                              "normalization",
                                                              "elementwise",
                                                              "embedding",
                                                              "logits",
                                                              "loss",
                                                              "contention",
                                                              "recompute",
                                                              "optimizer",
                                                              "tp",
                                                              "cp",
                                                              "ep",
                                                              "pp",
                                                              "dp",
                                                              "bubble",
                                                              "host"};

CategoryClass class_of(Category c) {
  if (c == Category::exposed_pp) return CategoryClass::transfer;
  if (is_exposed_communication(c)) return CategoryClass::communication;
  if (c == Category::bubble) return CategoryClass::idle;
  return c == Category::host ? CategoryClass::host : CategoryClass::computing;
}

}  // namespace

std::string_view name(Category c) { return kNames[static_cast<std::size_t>(c)]; }

const CategoryLabels& step_categories() {
  static const CategoryLabels kLabels = [] {
    std::vector<CategoryLabel> labels;
    for (std::size_t i = 0; i < kCategories; ++i) {
      const auto c = static_cast<Category>(i);
      labels.push_back({std::string(name(c)), class_of(c)});
    }
    return std::make_shared<const std::vector<CategoryLabel>>(std::move(labels));
  }();
  return kLabels;
}

}  // namespace orrery
