#include "model/transformer/adapted_block.h"

#include <string_view>
#include <utility>
#include <vector>

#include "model/transformer/blocks.h"

namespace orrery {
namespace {

bool is_adapted(const Operator& op, AdaptedProducts products) {
  if (op.kind != OperatorKind::gemm) return false;
  return op.op_class == OperatorClass::attention_projection ||
         (products == AdaptedProducts::all && op.op_class == OperatorClass::feed_forward);
}

// The attention's backward reads its own output, which the product behind it keeps.
bool input_is_attention_output(const Operator& op) {
  return op.op_class == OperatorClass::attention_projection && op.k.axis == LogicalAxis::heads;
}

Operator product(std::string_view name, const Operator& beside, Dimension rows, Dimension n,
                 Dimension k) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::gemm;
  op.op_class = beside.op_class;
  op.m = rows;
  op.n = n;
  op.k = k;
  op.parameters = n.factor * k.factor;
  op.parameter_axis = n.axis != LogicalAxis::none ? n.axis : k.axis;
  op.auxiliary = beside.auxiliary;
  op.adapter = true;
  return op;
}

// A, B and the sum of the adapter's result with that of `op`.
void append_adapter(std::vector<Operator>& out, const Operator& op, bool keeps_input, double rank) {
  const bool by_rows = op.boundary == Boundary::row;
  // Behind a row product the sequence is in pieces again.
  Dimension rows = op.m;
  if (by_rows) rows.axis = LogicalAxis::sequence;

  Operator down = product("adapter.down", op, op.m, fixed(rank), op.k);
  if (by_rows) down.boundary = Boundary::row;
  if (keeps_input) {
    down.saved = {{op.m, op.k, ElementKind::activation}};
    down.keeps_input = true;
  }
  Operator up = product("adapter.up", op, rows, op.n, fixed(rank));
  up.saved = {{rows, fixed(rank), ElementKind::activation}};
  up.keeps_input = true;

  Operator sum;
  sum.name = "adapter.sum";
  sum.rows = rows;
  sum.width = op.n;
  // Reads both results, writes one; backward adds two gradients of the input.
  sum.forward_passes = 3;
  sum.backward_passes = 3;
  sum.counts_in_model_flops = false;
  sum.auxiliary = op.auxiliary;
  out.push_back(std::move(down));
  out.push_back(std::move(up));
  out.push_back(std::move(sum));
}

}  // namespace

void adapt(Block& block, const Adapters& adapters) {
  std::vector<Operator> out;
  for (Operator& op : block.operators) {
    op.frozen = true;
    const bool adapted = is_adapted(op, adapters.products);
    const bool kept = op.keeps_input;
    if (kept && (adapted || !input_is_attention_output(op))) {
      op.saved.erase(op.saved.begin());
      op.keeps_input = false;
    }
    out.push_back(std::move(op));
    if (adapted) {
      const Operator beside = out.back();
      append_adapter(out, beside, kept, static_cast<double>(adapters.rank));
    }
  }
  block.operators = std::move(out);
}

}  // namespace orrery
