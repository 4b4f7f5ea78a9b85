#include "model/operator.h"

#include <algorithm>

namespace orrery {

namespace {

double along(LogicalAxis axis, const Binding& b) {
  switch (axis) {
    case LogicalAxis::none:
      return 1;
    case LogicalAxis::heads:
    case LogicalAxis::kv_heads:
    case LogicalAxis::ffn:
    case LogicalAxis::vocabulary:
      return b.tp;
    case LogicalAxis::sequence:
      return b.sequence_parallel ? b.tp : 1;
    case LogicalAxis::experts:
      return b.ep / b.expert_copies;
    case LogicalAxis::expert_ffn:
      return b.etp;
  }
  return 1;
}

double length(Symbol symbol, const Binding& b) {
  switch (symbol) {
    case Symbol::source_tokens:
    case Symbol::routed_source_tokens:
      return b.source_length;
    case Symbol::joint_tokens:
      return b.sequence_length + b.source_length;
    case Symbol::one:
    case Symbol::tokens:
    case Symbol::routed_tokens:
    case Symbol::sequences:
      return b.sequence_length;
  }
  return b.sequence_length;
}

}  // namespace

double whole_length(const Dimension& d, const Binding& b) { return d.factor * length(d.symbol, b); }

double size(const Dimension& d, const Binding& b) {
  double count = d.factor;
  switch (d.symbol) {
    case Symbol::one:
      break;
    case Symbol::sequences:
      count *= b.micro_batch;
      break;
    case Symbol::tokens:
    case Symbol::source_tokens:
    case Symbol::joint_tokens:
      count *= b.micro_batch * length(d.symbol, b) / b.cp;
      break;
    case Symbol::routed_tokens:
    case Symbol::routed_source_tokens: {
      const double tokens = b.micro_batch * length(d.symbol, b) / b.cp;
      count *= tokens * b.expert_imbalance * (b.sequence_parallel ? double(b.etp) / b.tp : 1);
      break;
    }
  }
  return count / along(d.axis, b);
}

Flops model_flops(const Operator& op, Phase phase, const Binding& b) {
  switch (op.kind) {
    case OperatorKind::gemm:
    case OperatorKind::grouped_gemm:
      if (phase == Phase::weight_gradient && op.frozen) return Flops(0);
      return Flops(2 * size(op.m, b) * size(op.n, b) * size(op.k, b));
    case OperatorKind::batched_gemm: {
      if (phase == Phase::weight_gradient) return Flops(0);
      const double forward = 2 * size(op.groups, b) * size(op.m, b) * size(op.n, b) * size(op.k, b);
      return Flops(phase == Phase::forward ? forward : 2 * forward);
    }
    case OperatorKind::attention: {
      if (phase == Phase::weight_gradient) return Flops(0);
      const AttentionCore& core = op.attention;
      double keys = whole_length(op.n, b);
      if (core.window > 0) keys = std::min(keys, core.window);
      const double forward =
          2 * size(op.m, b) * keys * core.heads / b.tp * (core.query_key_dim + core.value_dim);
      return Flops(phase == Phase::forward ? forward : 2 * forward);
    }
    case OperatorKind::elementwise:
    case OperatorKind::embedding:
    case OperatorKind::embedding_bag:
    case OperatorKind::cross_entropy:
      return Flops(0);
  }
  return Flops(0);
}

double parameters_on_rank(const Operator& op, const Binding& b) {
  double share = along(op.parameter_axis, b);
  if (op.parameter_axis == LogicalAxis::experts) share *= b.etp;
  return op.parameters / share;
}

namespace {

Bytes width_of(ElementKind kind, NumberFormat operand) {
  switch (kind) {
    case ElementKind::activation:
      return tensor_element_size(operand);
    case ElementKind::gemm_operand:
      return element_size(operand);
    case ElementKind::fp32:
      return Bytes(4);
    case ElementKind::mask:
      return Bytes(1);
  }
  return Bytes(0);
}

Bytes bytes_of(const Tensor& t, const Binding& b, NumberFormat operand) {
  return width_of(t.element, operand) * (size(t.rows, b) * size(t.width, b));
}

}  // namespace

Bytes saved_bytes(const Operator& op, const Binding& b, NumberFormat operand) {
  Bytes total(0);
  for (const Tensor& t : op.saved) total += bytes_of(t, b, operand);
  return total;
}

Bytes bytes_for_weight_gradient(const Operator& op, const Binding& b, NumberFormat operand) {
  if (op.frozen || !is_product(op)) return Bytes(0);
  const Bytes gradient = bytes_of({op.m, op.n, ElementKind::gemm_operand}, b, operand);
  return op.keeps_input ? gradient + bytes_of(op.saved.front(), b, operand) : gradient;
}

}  // namespace orrery
