// Attention whose keys and values, or queries, go round a ring of ranks (lower/block_lowering.h).
//
// Ring attention (arXiv 2310.01889): c steps, in each of which a rank attends to the keys and values
// of another while it sends these on and receives the next,
//
//   t = c max(t_kernel, t_step),    t_step = 2 b (s/c) columns / tp / bandwidth
//
// (bytes of keys and values; backward three times as many, with their gradients in fp32). Where the
// ring goes through nodes that have several of its ranks, one rank of a node sends to the next node,
// over its own share of the node's network, and sets the pace of all.
//
// Double ring (LoongTrain, arXiv 2406.18485 s.4.3; `inner_ring` w): c/w inner rings of w ranks, all
// of whose ranks send to the next inner ring, meanwhile and over all links, what w steps later is
// passed round there,
//
//   t = (c/w - 1) max(w t_kernel, w t_inner, t_outer) + w max(t_kernel, t_inner)
//
// Ring self-attention (arXiv 2105.13120) is a ring with unfused attention: keys pass for the scores,
// then values for the outputs, as many bytes. Softmax runs over whole rows, so that nothing is merged.
//
// Token ring (arXiv 2412.20501): keys and values stay. Queries go one way; what a rank found for
// those of another, with the log-sum-exp of each query and head (4 bytes), returns the other way,
// over the same full-duplex links at the same time,
//
//   t_step = max(queries, outputs + 4 b (s/c) heads) / bandwidth,  and one return behind the last
//
// of 16 bits, so that a direction of a link carries half of what a ring of keys and values sends if
// all heads have their own. The paper says nothing of training; backward, queries and gradients of
// outputs with two sums of each (8 bytes) go one way, and gradients of queries return.
#include <algorithm>
#include <functional>
#include <optional>

#include "lower/block_lowering.h"

namespace orrery {

// One step of a ring of which every rank sends `bytes` on.
Communication BlockLowering::ring_step(Bytes bytes) const {
  const auto ranks = static_cast<double>(ring_ranks(s_.plan));
  // One all-gather's time is that of ranks - 1 such steps.
  Communication step = context_collective(CollectiveKind::all_gather, bytes * ranks);
  step.pieces = ranks - 1;
  const Communication hop{.collective = CollectiveKind::all_gather,
                          .group = index(StepGroup::context_hop),
                          .payload = 2 * bytes};
  return time(hop) > time(step) ? hop : step;
}

// The same of step `j` of a double ring: what takes longer of the inner ring's and of a w-th of the
// outer one's.
Communication BlockLowering::ring_step(Bytes bytes, std::int64_t j) const {
  const std::int64_t inner = s_.plan.inner_ring;
  if (inner == 0) return ring_step(bytes);
  const std::int64_t outer = ring_ranks(s_.plan) / inner;
  Communication inside{.collective = CollectiveKind::all_gather,
                       .group = index(StepGroup::context_inner),
                       .payload = Bytes(0)};
  Communication outside{.collective = CollectiveKind::all_gather,
                        .group = index(StepGroup::context_outer),
                        .payload = Bytes(0)};
  if (j % inner + 1 < inner) {
    inside.payload = bytes * static_cast<double>(inner);
    inside.pieces = static_cast<double>(inner - 1);
  }
  if (j / inner + 1 < outer) {
    outside.payload = bytes * static_cast<double>(outer);
    outside.pieces = static_cast<double>((outer - 1) * inner);
  }
  return time(outside) > time(inside) ? outside : inside;
}

// A kernel for each rank of a ring, beside each but the last the transfer that `step` makes of the
// number of its step, with what `behind` emits after each.
void BlockLowering::go_round(PassBuilder& out, const Operator& op, Category category, Kernel kernel,
                             std::string_view name,
                             const std::function<Communication(std::int64_t)>& step,
                             const std::function<void(std::int64_t)>& behind) {
  const std::int64_t ranks = ring_ranks(s_.plan);
  kernel.pieces = static_cast<double>(ranks);
  std::optional<NodeIndex> arriving;
  for (std::int64_t j = 0; j < ranks; ++j) {
    out.wait_for(arriving);
    arriving.reset();
    Seconds beside;
    if (j + 1 < ranks) {
      const Communication sent = step(j);
      beside = time(sent);
      arriving =
          out.transfer(name, StepStream::cp, Category::exposed_cp, sent, NodeKind::point_to_point);
    }
    out.slowed_compute(op.name, category, kernel, beside);
    behind(j);
  }
}

// `volume` times the keys and values travel.
void BlockLowering::pass_keys(PassBuilder& out, const Operator& op, Category category,
                              const Kernel& kernel, double volume, bool backward) {
  const Bytes bytes = key_value_bytes(op) * (volume / static_cast<double>(ring_ranks(s_.plan)));
  const bool whole_rows = s_.plan.attention == AttentionKernel::unfused;
  go_round(
      out, op, category, kernel, "keys and values round the ring",
      [&](std::int64_t j) { return ring_step(bytes, j); },
      [&](std::int64_t j) {
        if (j > 0 && !whole_rows) merge_ring_step(out, op, category, backward);
      });
}

void BlockLowering::pass_queries(PassBuilder& out, const Operator& op, Category category,
                                 const Kernel& kernel, bool backward) {
  const std::int64_t ranks = ring_ranks(s_.plan);
  const AttentionShape a = attention_shape(op);
  const double rows = a.batch * a.queries * a.heads;
  const Bytes queries = element() * (rows * a.query_key_dim);
  const Bytes outputs = element() * (rows * a.value_dim);
  const Bytes sums = element_size(NumberFormat::fp32) * rows;  // one of each query and head
  const Bytes there = backward ? queries + outputs + 2 * sums : queries;
  const Bytes back = backward ? queries : outputs + sums;
  go_round(
      out, op, category, kernel, "queries round the ring, outputs back",
      [&](std::int64_t j) { return ring_step(j == 0 ? there : std::max(there, back)); },
      [](std::int64_t) {});
  out.wait_for(out.transfer("last outputs back", StepStream::cp, Category::exposed_cp,
                            ring_step(back), NodeKind::point_to_point));
  for (std::int64_t j = 1; j < ranks; ++j) merge_ring_step(out, op, category, backward);
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
