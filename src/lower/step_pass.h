// The passes a schedule makes of a virtual stage, and what each is of a block.
#pragma once

#include <array>
#include <string_view>

#include "lower/block_cost.h"

namespace orrery {

enum class Pass { forward, backward, input_gradient, weight_gradient };
inline constexpr std::size_t kPasses = 4;

inline std::string_view pass_name(Pass direction) {
  static constexpr std::array<std::string_view, kPasses> kNames = {
      "forward", "backward", "input gradient", "weight gradient"};
  return kNames[static_cast<std::size_t>(direction)];
}

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
