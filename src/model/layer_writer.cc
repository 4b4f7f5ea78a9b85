#include "model/layer_writer.h"

namespace orrery {

Operator& LayerWriter::append(Operator op) {
  operators_.push_back(std::move(op));
  return operators_.back();
}

Operator& LayerWriter::product(const Product& p) {
  Operator op;
  op.name = p.name;
  op.kind = OperatorKind::gemm;
  op.op_class = p.op_class;
  op.boundary = p.boundary;
  op.m = p.rows;
  op.n = p.n;
  op.k = p.k;
  op.parameters = (p.k.factor + p.bias) * p.n.factor;
  op.parameter_axis = p.n.axis != LogicalAxis::none ? p.n.axis : p.k.axis;
  if (!p.shares_input) {
    // The input of a column product is gathered again in the backward (arXiv 2205.05198 s.4.2.2).
    Dimension rows = p.rows;
    if (p.boundary == Boundary::column) rows.axis = LogicalAxis::sequence;
    op.saved = {{rows, p.k, ElementKind::gemm_operand}};
    op.keeps_input = true;
  }
  return append(std::move(op));
}

Operator& LayerWriter::grouped_product(std::string_view name, Dimension rows, Dimension n,
                                       Dimension k, Dimension groups, double parameters) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::grouped_gemm;
  op.op_class = OperatorClass::experts;
  op.m = rows;
  op.n = n;
  op.k = k;
  op.groups = groups;
  op.parameters = parameters * groups.factor;
  op.parameter_axis = groups.axis;
  op.saved = {{rows, k, ElementKind::gemm_operand}};
  op.keeps_input = true;
  return append(std::move(op));
}

Operator& LayerWriter::batched_product(std::string_view name, OperatorClass op_class,
                                       Dimension groups, double m, double n, double k) {
  Operator op;
  op.name = name;
  op.kind = OperatorKind::batched_gemm;
  op.op_class = op_class;
  op.groups = groups;
  op.m = fixed(m);
  op.n = fixed(n);
  op.k = fixed(k);
  return append(std::move(op));
}

void LayerWriter::convolution(const Convolution& c) {
  Operator op;
  op.name = c.name;
  op.kind = OperatorKind::gemm;
  op.op_class = OperatorClass::convolution;
  op.m = c.rows;
  op.n = fixed(c.out);
  op.k = fixed(c.in * c.taps);
  op.input_reuse = c.taps / (c.stride * c.stride);
  op.parameters = (c.in * c.taps + 1) * c.out;
  Dimension input = c.rows;
  input.factor *= c.stride * c.stride;
  op.saved = {{input, fixed(c.in), ElementKind::gemm_operand}};
  op.keeps_input = true;
  append(std::move(op));
  elementwise("convolution.bias", c.rows, fixed(c.out), ElementwiseKind::convolution_bias, 2)
      .backward_passes = 1;
}

Operator& LayerWriter::norm(std::string_view name, Dimension rows, double width,
                            ElementwiseKind kind, double parameters, double passes) {
  Operator& op =
      elementwise(name, OperatorClass::normalization, rows, fixed(width), passes, passes + 1);
  op.elementwise = kind;
  op.parameters = parameters;
  op.saved = {{rows, op.width, ElementKind::activation}};
  return op;
}

Operator& LayerWriter::elementwise(std::string_view name, Dimension rows, Dimension width,
                                   ElementwiseKind kind, double passes) {
  Operator& op = elementwise(name, OperatorClass::elementwise, rows, width, passes, passes);
  op.elementwise = kind;
  return op;
}

Operator& LayerWriter::elementwise(std::string_view name, OperatorClass op_class, Dimension rows,
                                   Dimension width, double forward_passes, double backward_passes) {
  Operator op;
  op.name = name;
  op.op_class = op_class;
  op.rows = rows;
  op.width = width;
  op.forward_passes = forward_passes;
  op.backward_passes = backward_passes;
  op.counts_in_model_flops = false;
  return append(std::move(op));
}

Operator& LayerWriter::activation(std::string_view name, Dimension rows, Dimension width) {
  Operator& op = elementwise(name, rows, width, ElementwiseKind::activation, 2);
  op.backward_passes = 3;
  op.saved = {{rows, width, ElementKind::activation}};
  return op;
}

Operator& LayerWriter::attention(const Attention& a) {
  Operator op;
  op.name = a.name;
  op.kind = OperatorKind::attention;
  op.op_class = OperatorClass::attention_core;
  op.in_attention_core = true;
  op.m = a.queries;
  op.n = a.keys;
  op.attention = {.heads = a.heads,
                  .kv_heads = a.heads,
                  .query_key_dim = a.head_dim,
                  .value_dim = a.head_dim,
                  .window = a.window,
                  .chunked = a.window > 0,
                  .causal = false,
                  .cross = a.keys.symbol == Symbol::source_tokens};
  op.saved = {{a.queries, fixed(a.heads, LogicalAxis::heads), ElementKind::fp32}};
  return append(std::move(op));
}

}  // namespace orrery
