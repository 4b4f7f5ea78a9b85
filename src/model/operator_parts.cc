#include "model/operator_parts.h"

namespace orrery {

Operator elementwise_operator(std::string_view name, OperatorClass op_class, Dimension rows,
                              Dimension width, double forward_passes, double backward_passes) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::elementwise;
  op.op_class = op_class;
  op.rows = rows;
  op.width = width;
  op.forward_passes = forward_passes;
  op.backward_passes = backward_passes;
  op.counts_in_model_flops = false;
  return op;
}

}  // namespace orrery
