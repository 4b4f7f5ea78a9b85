#include "graph/category.h"

namespace orrery {

std::string_view name(Category c) {
  switch (c) {
    case Category::attention_projection:
      return "attention_projection";
    case Category::attention_core:
      return "attention_core";
    case Category::feed_forward:
      return "feed_forward";
    case Category::experts:
      return "experts";
    case Category::router:
      return "router";
    case Category::normalization:
      return "normalization";
    case Category::elementwise:
      return "elementwise";
    case Category::embedding:
      return "embedding";
    case Category::logits:
      return "logits";
    case Category::loss:
      return "loss";
    case Category::contention:
      return "contention";
    case Category::recompute:
      return "recompute";
    case Category::optimizer:
      return "optimizer";
    case Category::exposed_tp:
      return "tp";
    case Category::exposed_cp:
      return "cp";
    case Category::exposed_ep:
      return "ep";
    case Category::exposed_pp:
      return "pp";
    case Category::exposed_dp:
      return "dp";
    case Category::bubble:
      return "bubble";
    case Category::host:
      return "host";
  }
  return "?";
}

}  // namespace orrery
