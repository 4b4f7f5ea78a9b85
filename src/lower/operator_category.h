// The line of the breakdown an operator's time is booked on.
#pragma once

#include "lower/step_category.h"
#include "model/operator.h"

namespace orrery {

inline Category category_of(OperatorClass c) {
  switch (c) {
    case OperatorClass::attention_projection:
      return Category::attention_projection;
    case OperatorClass::attention_core:
      return Category::attention_core;
    case OperatorClass::feed_forward:
      return Category::feed_forward;
    case OperatorClass::experts:
      return Category::experts;
    case OperatorClass::router:
      return Category::router;
    case OperatorClass::normalization:
      return Category::normalization;
    case OperatorClass::elementwise:
      return Category::elementwise;
    case OperatorClass::embedding:
      return Category::embedding;
    case OperatorClass::logits:
      return Category::logits;
    case OperatorClass::loss:
      return Category::loss;
  }
  return Category::elementwise;
}

}  // namespace orrery
