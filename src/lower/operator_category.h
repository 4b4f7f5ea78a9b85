// The line of the breakdown an operator's time is booked on: the classes of operators are the first
// categories, in their order.
#pragma once

#include "lower/step_category.h"
#include "model/operator.h"

namespace orrery {

constexpr Category category_of(OperatorClass c) { return static_cast<Category>(c); }
static_assert(category_of(OperatorClass::attention_projection) == Category::attention_projection &&
              category_of(OperatorClass::router) == Category::router &&
              category_of(OperatorClass::loss) == Category::loss);

}  // namespace orrery
