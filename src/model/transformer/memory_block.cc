// A product-key memory in place of a feed-forward (arXiv 1907.05242; 2412.09764 s.2).
//
//   q = x Wq, heads x key_dim                scores = each half of q with n keys of half its width
//   of the n^2 pairs of keys top_k a head    y = sum over heads and pairs of weight x value
//   out = (y * silu(x W1)) W2                 with n^2 values of value_dim elements
//
// Values are look-ups: forward reads heads x top_k rows of each token and writes their sum; backward
// reads the gradient and each row, for the gradient of its weight, and adds to its gradient, which it
// reads and writes. Tensor parallelism divides value_dim, so that every rank looks up its part of
// each row; queries and scores are computed by each for its piece of the sequence. A table that
// several layers share is counted in equal parts by each of them.
// Not modelled: that rows which are looked up twice are in the cache; that a table which all ranks
// share could be looked up where its rows lie; that ranks which share a sequence have to gather the
// rows chosen for its pieces, heads x top_k of each token; optimizers that update only rows that were
// looked up.
#include "model/transformer/blocks.h"

namespace orrery {

void BlockWriter::memory() {
  const ProductKeyMemory& m = *a_.memory;
  const double h = static_cast<double>(a_.hidden);
  const double heads = static_cast<double>(m.heads);
  const double keys = static_cast<double>(m.keys);
  const double width = static_cast<double>(m.key_dim);
  const double rows = heads * static_cast<double>(m.top_k);
  const double v = static_cast<double>(m.value_dim);
  const Dimension values = fixed(v, LogicalAxis::ffn);

  gemm("memory.query", OperatorClass::router, Boundary::none, fixed(heads * width), fixed(h),
       h * heads * width);
  // Two products of half the width for each head.
  Operator& scores = gemm("memory.scores", OperatorClass::router, Boundary::none,
                          fixed(heads * 2 * keys), fixed(width / 2), heads * keys * width);
  scores.saved.push_back({stream_rows(), fixed(3 * rows), ElementKind::fp32});
  elementwise("memory.select", OperatorClass::router, stream_rows(), fixed(heads * 2 * keys), 2, 1);
  Operator& look_up = elementwise("memory.values", OperatorClass::feed_forward, whole_rows(),
                                  values, rows + 1, 1 + 3 * rows);
  look_up.parameters = keys * keys * v / static_cast<double>(m.shared_by);
  look_up.parameter_axis = LogicalAxis::ffn;
  gemm("memory.gate", OperatorClass::feed_forward, Boundary::column, values, fixed(h), h * v);
  Operator& gated =
      elementwise("memory.gated", OperatorClass::elementwise, whole_rows(), values, 3, 5);
  gated.elementwise = ElementwiseKind::gated_activation;
  gated.saved = {{whole_rows(), fixed(2 * v, LogicalAxis::ffn), ElementKind::activation}};
  gemm("memory.out", OperatorClass::feed_forward, Boundary::row, fixed(h), values, v * h);
}

}  // namespace orrery
