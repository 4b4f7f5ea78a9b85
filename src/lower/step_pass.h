// The passes a schedule makes of a virtual stage, and what each is of a block.
#pragma once

#include "lower/block_cost.h"

namespace orrery {

enum class Pass { forward, backward, input_gradient, weight_gradient };
inline constexpr std::size_t kPasses = 4;

inline const BlockPass& pass_of(const BlockCost& cost, Pass pass) {
  switch (pass) {
    case Pass::forward:
      return cost.forward;
    case Pass::backward:
      return cost.backward;
    case Pass::input_gradient:
      return cost.input_gradient;
    case Pass::weight_gradient:
      return cost.weight_gradient;
  }
  return cost.forward;
}

}  // namespace orrery
