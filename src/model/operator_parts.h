// What the blocks of every family are written with: sizes that no batch changes, and operators whose
// time is the bytes they move.
#pragma once

#include <string_view>

#include "model/operator.h"

namespace orrery {

// A dimension of so many elements, divided along an axis.
constexpr Dimension fixed(double elements, LogicalAxis axis = LogicalAxis::none) {
  return {.factor = elements, .symbol = Symbol::one, .axis = axis};
}

// One kernel over rows x width elements that reads or writes an array of that size so many times in
// each direction. It counts no FLOPs.
Operator elementwise_operator(std::string_view name, OperatorClass op_class, Dimension rows,
                              Dimension width, double forward_passes, double backward_passes);

}  // namespace orrery
