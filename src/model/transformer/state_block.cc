// Layers that carry a state along the sequence: Mamba, Mamba-2 and the gated delta rule.
//
// Projections are products, divided over tensor-parallel ranks by heads or channels as attention's
// are (Megatron-Core, megatron/core/ssm). Between them, per token, with chunks of Q tokens:
//
//   Mamba-2 (arXiv 2405.21060 s.6): G groups, H heads, P = inner / H channels a head, N states
//     scores   C B^T           2 G Q N          states   B^T X            2 H P N
//     output   [L o C B^T, C] [X; states]       2 H P (Q + N)
//   gated delta rule (arXiv 2412.06464 s.3.3): H value heads of key width k and value width v
//     scores   [K; Q] K^T      4 H Q k          inverse  (I + A)^-1       2/3 H Q^2
//     update   T [K, V]        2 H Q (k + v)    states   W S, K^T U       4 H k v
//     output   [Q, A] [S; U]   2 H v (k + Q)
//
// Each line is one batched product, masks computed in full. Beside them are bound by memory: the
// convolution, the states of the chunks in fp32, gates, and the whole of Mamba's scan, whose
// FLOPs, 9 a channel and state (arXiv 2312.00752 s.3.3), are counted as those of element-wise work:
// not at all. Backward kernels compute the convolution, scores and states again (mamba_ssm,
// ssd_combined.py; fla, gated_delta_rule/chunk.py): kept are the projection's output and that of
// the scan. Not modelled: that states pass from chunk to chunk one after another.
#include "model/transformer/blocks.h"

namespace orrery {

Operator& BlockWriter::chunk_product(std::string_view name, double each, double chunk, double m,
                                     double n, double k, int backward_products) {
  Operator& op = batched_product(name, OperatorClass::attention_core,
                                 {each / chunk, whole_rows().symbol, LogicalAxis::heads}, m, n, k);
  op.backward_products = backward_products;
  return op;
}

void BlockWriter::convolution(std::string_view name, double channels, double parameters) {
  Operator& op = elementwise(name, OperatorClass::elementwise, whole_rows(),
                             fixed(channels, LogicalAxis::heads), 2, 5);
  op.parameters = parameters;
  op.parameter_axis = LogicalAxis::heads;
}

void BlockWriter::state_space() {
  if (a_.state_space->heads > 0) {
    scan_chunks();
  } else {
    scan_channels();
  }
  const double h = static_cast<double>(a_.hidden);
  const double inner = static_cast<double>(a_.state_space->inner);
  gemm("state_space.output", OperatorClass::attention_projection, Boundary::row, fixed(h),
       fixed(inner, LogicalAxis::heads), (inner + (a_.state_space->bias ? 1 : 0)) * h);
}

void BlockWriter::scan_chunks() {
  const StateSpace& s = *a_.state_space;
  const double h = static_cast<double>(a_.hidden);
  const double inner = static_cast<double>(s.inner);
  const double state = static_cast<double>(s.state);
  const double heads = static_cast<double>(s.heads);
  const double groups = static_cast<double>(s.groups);
  const double chunk = static_cast<double>(s.chunk);
  const double channels = inner + 2 * groups * state;
  const double in = inner + channels + heads;
  const Dimension projected = fixed(in, LogicalAxis::heads);
  gemm("state_space.input", OperatorClass::attention_projection, Boundary::column, projected,
       fixed(h), (h + (s.bias ? 1 : 0)) * in)
      .saved.push_back({whole_rows(), projected, ElementKind::activation});
  convolution("state_space.convolution", channels,
              channels * static_cast<double>(s.convolution + (s.convolution_bias ? 1 : 0)));
  chunk_product("state_space.scores", groups, chunk, chunk, chunk, state, 3);
  chunk_product("state_space.states", heads, chunk, inner / heads, state, chunk, 3);
  // Forward reads and writes fp32; backward does so again, and for the gradients.
  Dimension chunks = whole_rows();
  chunks.factor = 1 / chunk;
  Operator& passing = elementwise("state_space.passing", OperatorClass::attention_core, chunks,
                                  fixed(inner * state, LogicalAxis::heads), 4, 8);
  passing.parameters = 3 * heads;  // decay, skip and step bias
  passing.parameter_axis = LogicalAxis::heads;
  // Decays are numbers of a head, so that a piece hands on its state and one factor.
  chunk_product("state_space.scan", heads, chunk, chunk, inner / heads, chunk + state, 2)
      .carried = {inner * state + heads, in, inner, chunk / (chunk + state)};
  const Dimension width = fixed(inner, LogicalAxis::heads);
  Operator& gate =
      elementwise("state_space.gate", OperatorClass::elementwise, whole_rows(), width, 3, 5);
  gate.saved = {{whole_rows(), width, ElementKind::activation}};
  gate.parameters = s.gated_norm ? inner : 0;
  gate.parameter_axis = LogicalAxis::heads;
}

void BlockWriter::scan_channels() {
  const StateSpace& s = *a_.state_space;
  const double h = static_cast<double>(a_.hidden);
  const double inner = static_cast<double>(s.inner);
  const double state = static_cast<double>(s.state);
  const double rank = static_cast<double>(s.step_rank);
  const double bias = s.bias ? 1 : 0;
  const Dimension width = fixed(inner, LogicalAxis::heads);
  const Dimension both = fixed(2 * inner, LogicalAxis::heads);
  const Dimension selected = fixed(rank + 2 * state);
  gemm("state_space.input", OperatorClass::attention_projection, Boundary::column, both, fixed(h),
       (h + bias) * 2 * inner)
      .saved.push_back({whole_rows(), both, ElementKind::activation});
  convolution("state_space.convolution", inner,
              inner * static_cast<double>(s.convolution + (s.convolution_bias ? 1 : 0)));
  gemm("state_space.selection", OperatorClass::attention_projection, Boundary::row, selected, width,
       inner * (rank + 2 * state));
  if (s.inner_norms) norm("state_space.selection_norm", stream_rows(), selected, rank + 2 * state);
  gemm("state_space.steps", OperatorClass::attention_projection, Boundary::column, width,
       fixed(rank), (rank + 1) * inner)
      .saved.push_back({whole_rows(), width, ElementKind::activation});
  // Forward reads the channels, their steps and the gate, and writes one; backward reads the
  // gradient too, writes three, and reads the channels again.
  Operator& scan =
      elementwise("state_space.scan", OperatorClass::attention_core, whole_rows(), width, 4, 8);
  scan.carried = {2 * inner * state, 2 * inner, inner, 0};  // each number has a decay of its own
  scan.parameters = inner * (state + 1);                    // decay and skip
  scan.parameter_axis = LogicalAxis::heads;
}

void BlockWriter::gated_delta() {
  const GatedDelta& g = *a_.gated_delta;
  const double h = static_cast<double>(a_.hidden);
  const double key_dim = static_cast<double>(g.key_dim);
  const double value_dim = static_cast<double>(g.value_dim);
  const double heads = static_cast<double>(g.value_heads);
  const double chunk = static_cast<double>(g.chunk);
  const double key = static_cast<double>(g.key_heads) * key_dim;
  const double value = heads * value_dim;
  const double in = 2 * key + 2 * value + 2 * heads;
  const Dimension projected = fixed(in, LogicalAxis::heads);
  gemm("gated_delta.input", OperatorClass::attention_projection, Boundary::column, projected,
       fixed(h), h * in)
      .saved.push_back({whole_rows(), projected, ElementKind::activation});
  convolution("gated_delta.convolution", 2 * key + value,
              (2 * key + value) * static_cast<double>(g.convolution));
  const Dimension query_key = fixed(2 * key, LogicalAxis::heads);
  Operator& unit = elementwise("gated_delta.query_key_norm", OperatorClass::normalization,
                               whole_rows(), query_key, 2, 3);
  unit.parameters = 2 * heads;  // decay and step bias
  unit.parameter_axis = LogicalAxis::heads;
  chunk_product("gated_delta.scores", heads, chunk, 2 * chunk, chunk, key_dim, 2);
  chunk_product("gated_delta.inverse", heads, chunk, chunk, chunk, chunk / 3, 2).saved = {
      {whole_rows(), fixed(heads * chunk, LogicalAxis::heads), ElementKind::activation}};
  chunk_product("gated_delta.update", heads, chunk, chunk, key_dim + value_dim, chunk, 3);
  chunk_product("gated_delta.states", heads, chunk, chunk, value_dim, 2 * key_dim, 3);
  // A piece changes the state by a matrix of key_dim x key_dim, and hands that on as well.
  chunk_product("gated_delta.scan", heads, chunk, chunk, value_dim, key_dim + chunk, 2).carried = {
      heads * key_dim * (value_dim + key_dim), in, value, chunk / (key_dim + chunk)};
  const Dimension width = fixed(value, LogicalAxis::heads);
  Operator& gate =
      elementwise("gated_delta.gate", OperatorClass::elementwise, whole_rows(), width, 3, 5);
  gate.saved = {{whole_rows(), width, ElementKind::activation}};
  gate.parameters = value_dim;
  gemm("gated_delta.output", OperatorClass::attention_projection, Boundary::row, fixed(h), width,
       value * h);
}

}  // namespace orrery
