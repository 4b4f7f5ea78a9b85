// The number format in which a training recipe multiplies.
#pragma once

#include "model/operator.h"
#include "units/number_format.h"

namespace orrery {

// Recipes of narrow formats leave the logits and the router in 16 bits (Transformer Engine's
// modules replace the layers' products only; arXiv 2412.19437 s.3.3.1 names both), adapters, and
// products of two activations.
inline NumberFormat product_format(const Operator& op, NumberFormat precision) {
  const bool wide = op.op_class == OperatorClass::logits || op.op_class == OperatorClass::router ||
                    op.adapter || op.kind == OperatorKind::batched_gemm;
  return wide && element_size(precision) < Bytes(2) ? NumberFormat::bf16 : precision;
}

}  // namespace orrery
