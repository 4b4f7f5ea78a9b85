// Attention of a block in both directions, and what context parallelism does around it
// (lower/block_lowering.h).
#include <algorithm>
#include <optional>

#include "lower/block_lowering.h"
#include "lower/head_exchange.h"

namespace orrery {

double BlockLowering::whole_length(Symbol symbol) const {
  return symbol == Symbol::source_tokens ? s_.binding.source_length : s_.binding.sequence_length;
}

AttentionShape BlockLowering::attention_shape(const Operator& op) const {
  const AttentionCore& a = op.attention;
  const Binding& b = s_.binding;
  AttentionShape shape;
  shape.batch = b.micro_batch;
  shape.queries = extent(op.m) / b.micro_batch;
  shape.keys = whole_length(op.n.symbol);
  shape.heads = std::max(1.0, a.heads / b.tp);
  shape.kv_heads = std::max(1.0, a.kv_heads / b.tp);
  shape.query_key_dim = a.query_key_dim;
  shape.value_dim = a.value_dim;
  shape.window = a.window;
  shape.causal = a.causal;
  shape.fused_softmax = s_.costs.software.softmax == Kernels::fused;
  shape.wide_softmax = s_.costs.software.wide_softmax;
  if (exchanges_heads(s_.plan)) {
    shape.queries *= b.cp;
    shape.heads /= b.cp;
    shape.kv_heads /= b.cp;
  } else if (a.causal && b.cp > 1) {
    // Each rank holds one early and one late piece of the sequence, so that all see half the keys.
    shape.keys = shape.keys / 2 + shape.queries / 2;
  }
  return shape;
}

// Elements of a token's keys and values as attention gets them.
double BlockLowering::keys_and_values(const AttentionShape& a) const {
  return (s_.costs.software.repeats_keys ? a.heads : a.kv_heads) * (a.query_key_dim + a.value_dim);
}
// Keys and values of the whole sequence, of this rank's heads.
Bytes BlockLowering::key_value_bytes(const Operator& op) const {
  const AttentionShape a = attention_shape(op);
  return kActivation * (a.batch * whole_length(op.n.symbol) * keys_and_values(a));
}

void BlockLowering::forward_attention(PassBuilder& out, const Operator& op, Category category) {
  const Seconds time =
      kernels_.attention(attention_shape(op), s_.plan.attention, Direction::forward, format());
  around_attention(out, op, category);
  const HostCosts& host = s_.costs.software.host;
  if (host.waits_in_attention && s_.plan.attention != AttentionKernel::unfused) {
    // Until the host, which has waited for the device, launches what follows: the copies between
    // layouts and the kernel itself.
    const int launches = 1 + attention_copies(s_.costs.software).kernels;
    out.compute("wait for the host", Category::host, host.product + host.kernel * launches, 0);
  }
  around_context(out, op, category, time, 1, CollectiveKind::all_gather, false);
}

void BlockLowering::backward_attention(PassBuilder& out, const Operator& op, Category category) {
  const Seconds time =
      kernels_.attention(attention_shape(op), s_.plan.attention, Direction::backward, format());
  // Ring: keys, values and their fp32 gradients travel together, three times the forward.
  around_context(out, op, category, time, 3, CollectiveKind::reduce_scatter, true);
  around_attention(out, op, category);
}

// The kernel over all the keys of a sequence.
void BlockLowering::attend(PassBuilder& out, const Operator& op, Category category, Seconds time,
                           Phase phase) {
  const bool unfused = s_.plan.attention == AttentionKernel::unfused;
  out.compute(op.name, category, time,
              unfused ? unfused_attention_kernels(phase, s_.costs.software) : 1);
}

// What surrounds the kernel in one direction: copies of queries, keys, values and the output, and
// dropout on stored probabilities (fused kernels draw theirs in registers).
void BlockLowering::around_attention(PassBuilder& out, const Operator& op, Category category) {
  const AttentionShape a = attention_shape(op);
  const double rows = a.batch * a.queries;
  passes_over(out, "attention layout", category, attention_copies(s_.costs.software),
              rows * (a.heads + a.kv_heads) * (a.query_key_dim + a.value_dim));
  if (s_.costs.software.repeats_keys && a.kv_heads < a.heads) {
    // Forward the shared ones are read and the repeated ones written, backward the reverse.
    passes_over(out, "repeated keys and values", category, OperatorWork{1, 2},
                rows * (a.heads + a.kv_heads) * (a.query_key_dim + a.value_dim));
  }
  if (s_.plan.attention == AttentionKernel::unfused) {
    passes_over(out, "attention dropout", category, score_dropout(s_.training.dropout),
                rows * a.heads * a.keys);
  }
}

// Attention with its context-parallel exchange: `volume` times the keys and values travel.
void BlockLowering::around_context(PassBuilder& out, const Operator& op, Category category,
                                   Seconds time, double volume, CollectiveKind kind, bool after) {
  const int cp = s_.binding.cp;
  const Phase phase = after ? Phase::input_gradient : Phase::forward;
  if (cp == 1) {
    attend(out, op, category, time, phase);
    return;
  }
  if (exchanges_heads(s_.plan)) {
    const HeadExchange tensors =
        head_exchange(op, s_, after ? Direction::backward : Direction::forward);
    exchange(out, tensors.before, category, s_);
    attend(out, op, category, time, phase);
    exchange(out, tensors.behind, category, s_);
    return;
  }
  if (s_.costs.software.attends_in_pieces) {
    attend_in_pieces(out, op, category, time, after);
    return;
  }
  const Bytes payload = key_value_bytes(op);
  if (s_.plan.context_parallel == ContextParallel::all_gather) {
    out.wait_for(
        out.transfer("all-gather of keys and values", StreamKind::cp, Category::exposed_cp,
                     s_.costs.communicate(CollectiveKind::all_gather, payload, s_.layout.cp)));
    out.compute(op.name, category, time);
    if (after) {
      out.wait_for(out.transfer("reduce-scatter of their gradients", StreamKind::cp,
                                Category::exposed_cp,
                                s_.costs.communicate(kind, payload, s_.layout.cp)));
    }
    return;
  }
  // Ring: cp steps, each beside the transfer of the next block. One all-gather's time is that of
  // cp - 1 such transfers.
  const Seconds step =
      s_.costs.communicate(CollectiveKind::all_gather, payload * volume, s_.layout.cp) / (cp - 1);
  std::optional<NodeIndex> arriving;
  for (int j = 0; j < cp; ++j) {
    out.wait_for(arriving);
    arriving.reset();
    if (j + 1 < cp) {
      arriving = out.transfer("keys and values round the ring", StreamKind::cp,
                              Category::exposed_cp, step, NodeKind::point_to_point);
    }
    out.slowed_compute(op.name, category, time / cp, j + 1 < cp ? step : Seconds(0));
    if (j > 0) merge_ring_step(out, op, category, after);
  }
}

// PyTorch's context_parallel (torch/distributed/tensor/experimental/_attention.py): keys and
// values, joined to one buffer, are gathered beside the attention to a rank's own, or travel
// round the ring; then follows a kernel for those of each other rank. Backward an fp32 buffer of
// their gradients moves on a rank behind each, beside the next, and last to its owner.
void BlockLowering::attend_in_pieces(PassBuilder& out, const Operator& op, Category category,
                                     Seconds time, bool backward) {
  const int cp = s_.binding.cp;
  const bool ring = s_.plan.context_parallel == ContextParallel::ring;
  const AttentionShape a = attention_shape(op);
  const double rows = a.batch * a.queries;
  const Seconds step =
      s_.costs.communicate(CollectiveKind::all_gather, key_value_bytes(op), s_.layout.cp) /
      (cp - 1);
  const Seconds gradient_step = 2 * step;  // fp32
  std::optional<NodeIndex> arriving;
  std::optional<NodeIndex> gradients;
  for (int j = 0; j < cp; ++j) {
    out.wait_for(arriving);
    arriving.reset();
    Seconds beside = backward && j > 0 ? gradient_step : Seconds(0);
    if (ring ? j + 1 < cp : j == 0) {
      passes_over(out, "keys and values to send", category, OperatorWork{2, 1},
                  rows * keys_and_values(a));
      const Seconds transfer = ring ? step : step * (cp - 1);
      arriving = out.transfer(
          ring ? "keys and values round the ring" : "all-gather of keys and values", StreamKind::cp,
          Category::exposed_cp, transfer, ring ? NodeKind::point_to_point : NodeKind::collective);
      beside += transfer;
    }
    out.slowed_compute(op.name, category, time / cp, beside);
    if (j > 0) {
      out.wait_for(gradients);
      passes_over(out, "merge of a piece", category, OperatorWork{5, backward ? 3 : 1},
                  rows * (backward ? a.heads * a.query_key_dim + keys_and_values(a)
                                   : a.heads * a.value_dim));
    }
    if (backward) {
      gradients = out.transfer("gradients of keys and values round the ring", StreamKind::cp,
                               Category::exposed_cp, gradient_step, NodeKind::point_to_point);
    }
  }
  out.wait_for(gradients);
}

// What a step round the ring found is added to what earlier ones did: forward the output, weighed
// by its softmax (fp32 sum read and written, 16-bit part read); backward the gradients of
// queries, keys and values (read, read, write). Transformer Engine, attention with context
// parallelism.
void BlockLowering::merge_ring_step(PassBuilder& out, const Operator& op, Category category,
                                    bool backward) {
  const AttentionShape a = attention_shape(op);
  const double rows = a.batch * a.queries;
  const double queries = a.heads * a.query_key_dim;
  const double keys_values = a.kv_heads * (a.query_key_dim + a.value_dim);
  passes_over(out, "merge of a ring step", category,
              backward ? OperatorWork{3, 2} : OperatorWork{5, 1},
              backward ? rows * (queries + keys_values) : rows * a.heads * a.value_dim);
}

}  // namespace orrery
