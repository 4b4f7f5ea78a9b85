// One pass of a block besides its operators: which gradients it computes, and what runs around it.
#pragma once

#include "model/operator.h"
#include "units/picoseconds.h"

namespace orrery {

// Which gradients a backward pass computes.
enum class Part { both, input };

inline bool has_weight_gradient(const Operator& op) { return is_product(op) && !op.frozen; }

inline bool runs_products(const Operator& op) {
  return is_product(op) || op.kind == OperatorKind::attention;
}

// What surrounds a pass and changes it.
struct PassSurroundings {
  Picoseconds idle;           // that the device waits for the host
  Picoseconds slowed;         // that its computing loses to the exchange of another pass
  double exchange_share = 1;  // of its own exchanges of tokens, what no other pass hides
};

}  // namespace orrery
