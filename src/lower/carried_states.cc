// Layers that carry a state along the sequence, where context-parallel ranks have pieces of it
// (lower/block_lowering.h).
//
// LASP-2 (arXiv 2502.07563 s.3): every rank computes the state that its piece would leave behind an
// empty one, all gather them, and each adds up those before its own,
//
//   t = max(t_apart, t_all-gather) + t_rest,    n = 4 b elements / tp  bytes a rank and piece
//
// apart: what a layer computes of a piece alone. The bytes do not depend on the length. The backward
// gathers the gradients of the states. In a hybrid (LASP-2H) attention does as the plan says. With
// `ring` the states pass from rank to rank (LASP, arXiv 2404.02882), one after another,
//
//   t = max(t_apart, (c - 1) (t_hop + t_update)) + t_rest
//
// Where ranks exchange heads, each has all tokens of some heads of such layers, too: what a layer
// reads is exchanged before the operator that needs states and what it returns behind it (Megatron
// Core, megatron/core/ssm/mamba_context_parallel.py). Zigzag gives a rank two pieces. Not modelled:
// the tokens that a convolution reads of the piece before; that the scan of Mamba runs a second time
// from the state it is handed.

#include "lower/block_lowering.h"
#include "lower/head_exchange.h"

namespace orrery {

void BlockLowering::carry_states(PassBuilder& out, const Operator& op, Category category,
                                 Direction direction) {
  const CarriedState& carried = op.carried;
  const bool backward = direction == Direction::backward;
  const auto heads = static_cast<double>(head_ranks(s_.plan));
  const std::int64_t ranks = ring_ranks(s_.plan);
  const double tokens = s_.binding.micro_batch * s_.binding.sequence_length / s_.binding.cp;
  const auto exchanged = [&](std::string_view name,
                             double columns) -> std::vector<ExchangedTensor> {
    if (heads == 1) return {};
    return {{name, tokens * columns / s_.binding.tp}};
  };
  const auto inputs = exchanged("all-to-all of state inputs", carried.columns_in);
  const auto outputs = exchanged("all-to-all of state outputs", carried.columns_out);
  exchange(out, backward ? outputs : inputs, head_group(s_.plan), element(), category);

  const double pieces = s_.plan.context_balance == ContextBalance::zigzag ? 2 : 1;
  const Bytes bytes = element_size(NumberFormat::fp32) *
                      (pieces * s_.binding.micro_batch * carried.elements / s_.binding.tp / heads);
  Communication states =
      context_collective(CollectiveKind::all_gather, bytes * static_cast<double>(ranks));
  const bool in_turn = s_.plan.context_parallel == ContextParallel::ring;
  if (in_turn) {
    states = ring_step(bytes);
    states.times = static_cast<double>(ranks - 1);
  }
  std::optional<NodeIndex> arriving;
  if (ranks > 1) {
    arriving = out.transfer(in_turn ? "states from rank to rank" : "all-gather of states",
                            StepStream::cp, Category::exposed_cp, states,
                            in_turn ? NodeKind::point_to_point : NodeKind::collective);
  }
  const double products = op.kind != OperatorKind::batched_gemm ? 0
                          : backward                            ? op.backward_products
                                                                : 1;
  const auto compute = [&](double share, Seconds beside) {
    if (share <= 0 || products == 0) return;
    Kernel kernel = batched_product(op);
    kernel.pieces = 1 / (share * products);
    out.slowed_compute(op.name, category, kernel, beside);
  };
  compute(ranks > 1 ? carried.apart : 1, ranks > 1 ? time(states) : Seconds(0));
  out.wait_for(arriving);
  if (ranks > 1) {
    // Each state is read and added to what came before.
    passes_over(out, "sum of states", category, OperatorWork{1, 3},
                static_cast<double>(ranks - 1) * bytes.value() / element().value());
    compute(1 - carried.apart, Seconds(0));
  }
  if (products == 0) {
    elementwise(out, op, backward ? Phase::input_gradient : Phase::forward, category);
  }
  exchange(out, backward ? inputs : outputs, head_group(s_.plan), element(), category);
}

}  // namespace orrery
