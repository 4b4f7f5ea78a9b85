// Attention of a block in both directions, and what context parallelism does around it
// (lower/block_lowering.h).
#include <algorithm>
#include <optional>

#include "lower/block_lowering.h"
#include "lower/head_exchange.h"

namespace orrery {

AttentionShape BlockLowering::attention_shape(const Operator& op) const {
  const AttentionCore& a = op.attention;
  const Binding& b = s_.binding;
  AttentionShape shape;
  shape.batch = b.micro_batch;
  shape.queries = extent(op.m) / b.micro_batch;
  // The second half of a sequence sees the first.
  const bool second = halved() && s_.plan.halves == Halves::sequence && half_ == 1;
  shape.keys = whole_length(op.n, b) * (second ? 2 : 1);
  shape.heads = std::max(1.0, a.heads / b.tp);
  shape.kv_heads = std::max(1.0, a.kv_heads / b.tp);
  shape.query_key_dim = a.query_key_dim;
  shape.value_dim = a.value_dim;
  shape.window = a.window;
  shape.causal = a.causal;
  shape.fused_softmax = s_.costs.software.softmax == Kernels::fused;
  shape.wide_softmax = works_on_fp32_scores(s_.costs.software);
  if (s_.documents != nullptr) {
    shape.pairs = s_.documents->computed_pairs(a) * s_.documents->unevenness(a, s_.rows);
    shape.longest = s_.documents->longest();
  }
  const bool by_length = s_.plan.context_groups == ContextGroups::by_length;
  const auto exchanged = by_length ? 1.0 : static_cast<double>(head_ranks(s_.plan));
  shape.heads /= exchanged;
  shape.kv_heads /= exchanged;
  if (a.chunked) {
    // Pieces of the sequence that do not see each other: so many shorter sequences.
    shape.window = 0;
    if (shape.keys > a.window) {
      shape.batch *= shape.queries * exchanged / a.window;
      shape.queries = shape.keys = a.window;
      return shape;
    }
  }
  shape.queries *= exchanged;
  const bool contiguous =
      s_.plan.context_balance == ContextBalance::contiguous && s_.documents == nullptr;
  if (a.causal && (ring_ranks(s_.plan) > 1 || by_length) && !contiguous) {
    // Each rank holds one early and one late piece of the sequence, or every c-th token of c ranks,
    // so that all see half the keys. Of contiguous pieces the last sees all, and the others wait.
    shape.keys = shape.keys / 2 + shape.queries / 2;
  }
  return shape;
}

// Elements of a token's keys and values as attention gets them.
double BlockLowering::keys_and_values(const AttentionShape& a) const {
  return (repeats_keys(s_.costs.software) ? a.heads : a.kv_heads) * (a.query_key_dim + a.value_dim);
}
// Keys and values of the whole sequence, of this rank's heads.
Bytes BlockLowering::key_value_bytes(const Operator& op) const {
  const AttentionShape a = attention_shape(op);
  return element() * (a.batch * whole_length(op.n, s_.binding) * keys_and_values(a));
}

Kernel BlockLowering::attention_kernel(const Operator& op, Direction direction) const {
  return attention(attention_shape(op), s_.plan.attention, direction, format());
}

void BlockLowering::forward_attention(PassBuilder& out, const Operator& op, Category category) {
  around_attention(out, op, category);
  const HostCosts& host = s_.costs.software.host;
  if (host.waits == HostWaits::transfers_and_attention &&
      s_.plan.attention != AttentionKernel::unfused) {
    // Until the host, which has waited for the device, launches what follows: the copies between
    // layouts and the kernel itself.
    const int launches = 1 + attention_copies(s_.costs.software).kernels;
    out.compute("wait for the host", Category::host,
                StatedTime{host.product + host.kernel * launches}, 0);
  }
  around_context(out, op, category, attention_kernel(op, Direction::forward), 1,
                 CollectiveKind::all_gather, false);
}

void BlockLowering::backward_attention(PassBuilder& out, const Operator& op, Category category) {
  // Ring: keys, values and their fp32 gradients travel together, of 16 bits three times the forward.
  around_context(out, op, category, attention_kernel(op, Direction::backward),
                 1 + kFp32 / element(), CollectiveKind::reduce_scatter, true);
  around_attention(out, op, category);
}

// The kernel over all the keys of a sequence.
void BlockLowering::attend(PassBuilder& out, const Operator& op, Category category, Kernel kernel,
                           Phase phase) {
  if (s_.plan.attention == AttentionKernel::unfused) {
    kernel.launches = unfused_attention_kernels(phase, s_.costs.software);
  }
  out.compute(op.name, category, kernel);
}

// What surrounds the kernel in one direction: copies of queries, keys, values and the output, and
// dropout on stored probabilities (fused kernels draw theirs in registers).
void BlockLowering::around_attention(PassBuilder& out, const Operator& op, Category category) {
  const AttentionShape a = attention_shape(op);
  const double rows = a.batch * a.queries;
  passes_over(out, "attention layout", category, attention_copies(s_.costs.software),
              rows * (a.heads + a.kv_heads) * (a.query_key_dim + a.value_dim));
  if (repeats_keys(s_.costs.software) && a.kv_heads < a.heads) {
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
                                   Kernel kernel, double volume, CollectiveKind kind, bool after) {
  HeadExchange tensors;
  if (s_.plan.context_groups == ContextGroups::by_length) {
    attend_by_length(out, op, category, kernel, after);
    return;
  }
  if (exchanges_heads(s_.plan)) {
    tensors = head_exchange(op, s_, after ? Direction::backward : Direction::forward);
  }
  exchange(out, tensors.before, head_group(s_.plan), element(), category);
  if (ring_ranks(s_.plan) == 1) {
    attend(out, op, category, kernel, after ? Phase::input_gradient : Phase::forward);
  } else if (s_.plan.context_parallel == ContextParallel::token_ring) {
    pass_queries(out, op, category, kernel, after);
  } else if (s_.costs.software.attends_in_pieces && s_.plan.inner_ring == 0) {
    kernel.pieces = static_cast<double>(ring_ranks(s_.plan));
    attend_in_pieces(out, op, category, kernel, after);
  } else if (s_.plan.context_parallel == ContextParallel::all_gather) {
    gather_context(out, op, category, kernel, kind, after);
  } else {
    pass_keys(out, op, category, kernel, volume, after);
  }
  exchange(out, tensors.behind, head_group(s_.plan), element(), category);
}

// Keys and values of the whole sequence gathered before the kernel, their gradients scattered behind.
void BlockLowering::gather_context(PassBuilder& out, const Operator& op, Category category,
                                   const Kernel& kernel, CollectiveKind kind, bool after) {
  const Bytes payload = key_value_bytes(op);
  out.wait_for(out.transfer("all-gather of keys and values", StepStream::cp, Category::exposed_cp,
                            context_collective(CollectiveKind::all_gather, payload)));
  out.compute(op.name, category, kernel);
  if (!after) return;
  out.wait_for(out.transfer("reduce-scatter of their gradients", StepStream::cp,
                            Category::exposed_cp, context_collective(kind, payload)));
}

// PyTorch's context_parallel (torch/distributed/tensor/experimental/_attention.py): keys and
// values, joined to one buffer, are gathered beside the attention to a rank's own, or travel
// round the ring; then follows a kernel for those of each other rank. Backward an fp32 buffer of
// their gradients moves on a rank behind each, beside the next, and last to its owner.
void BlockLowering::attend_in_pieces(PassBuilder& out, const Operator& op, Category category,
                                     const Kernel& piece, bool backward) {
  const auto cp = static_cast<int>(ring_ranks(s_.plan));
  const bool ring = s_.plan.context_parallel == ContextParallel::ring;
  const AttentionShape a = attention_shape(op);
  const double rows = a.batch * a.queries;
  Communication sent = context_collective(CollectiveKind::all_gather, key_value_bytes(op));
  sent.pieces = cp - 1;
  Communication gradient = sent;
  gradient.times = kFp32 / element();
  if (!ring) sent.times = cp - 1;
  const Seconds sent_time = time(sent);
  const Seconds gradient_time = time(gradient);
  std::optional<NodeIndex> arriving;
  std::optional<NodeIndex> gradients;
  for (int j = 0; j < cp; ++j) {
    out.wait_for(arriving);
    arriving.reset();
    Seconds beside = backward && j > 0 ? gradient_time : Seconds(0);
    if (ring ? j + 1 < cp : j == 0) {
      passes_over(out, "keys and values to send", category, OperatorWork{2, 1},
                  rows * keys_and_values(a));
      arriving = out.transfer(
          ring ? "keys and values round the ring" : "all-gather of keys and values", StepStream::cp,
          Category::exposed_cp, sent, ring ? NodeKind::point_to_point : NodeKind::collective);
      beside += sent_time;
    }
    out.slowed_compute(op.name, category, piece, beside);
    if (j > 0) {
      out.wait_for(gradients);
      passes_over(out, "merge of a piece", category, OperatorWork{5, backward ? 3 : 1},
                  rows * (backward ? a.heads * a.query_key_dim + keys_and_values(a)
                                   : a.heads * a.value_dim));
    }
    if (backward) {
      gradients = out.transfer("gradients of keys and values round the ring", StepStream::cp,
                               Category::exposed_cp, gradient, NodeKind::point_to_point);
    }
  }
  out.wait_for(gradients);
}

}  // namespace orrery
