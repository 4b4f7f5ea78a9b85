#include "lower/block_cost.h"

#include <algorithm>

#include "lower/block_lowering.h"

namespace orrery {
namespace {

// Activations of unfused attention: scores and probabilities of every pair, kept in 2 bytes
// (arXiv 2205.05198 s.4: 5as^2b with dropout, 4as^2b without).
Bytes score_bytes(const Operator& op, const BlockSetting& s) {
  const Binding& b = s.binding;
  const double keys = op.n.symbol == Symbol::source_tokens ? b.source_length : b.sequence_length;
  return kActivation * (2 * (op.attention.heads / b.tp) * size(op.m, b) * keys);
}

// How long the device waits for the host in each of two passes that follow each other.
//
// The host queues kernels ahead of the device, so that a pass it launches faster than the device
// works gives it a lead for the next: the two together take max(device, host). The wait is booked
// on the pass that falls behind. Where the host waits for the device between passes there is no
// lead.
struct Idle {
  Picoseconds forward, backward;
};
Idle idle(const BlockPass& forward, const BlockPass& backward, bool no_lead) {
  const auto behind = [](const BlockPass& pass) {
    return std::max(Picoseconds(0), pass.host - pass.time);
  };
  Idle out{behind(forward), behind(backward)};
  if (no_lead) return out;
  const Picoseconds together =
      std::max(Picoseconds(0), forward.host + backward.host - forward.time - backward.time);
  out.forward = std::min(out.forward, together);
  out.backward = together - out.forward;
  return out;
}

}  // namespace

BlockCost block_cost(const Block& block, const BlockSetting& setting, Recompute recompute,
                     Backward kind) {
  BlockLowering lowering(block, setting);
  BlockCost out;
  out.forward = lowering.forward();
  out.backward = lowering.backward(recompute, Part::both);
  const bool no_lead = setting.plan.pp > 1 && setting.costs.software.host.waits_for_transfers;
  const Idle wait = idle(out.forward, out.backward, no_lead);
  if (wait.forward > Picoseconds(0)) out.forward = lowering.forward(wait.forward);
  if (wait.backward > Picoseconds(0)) {
    out.backward = lowering.backward(recompute, Part::both, wait.backward);
  }
  if (kind == Backward::split) {
    out.input_gradient = lowering.backward(recompute, Part::input);
    out.weight_gradient = lowering.weight_gradients();
    const Idle halves = idle(out.input_gradient, out.weight_gradient, no_lead);
    if (halves.forward > Picoseconds(0)) {
      out.input_gradient = lowering.backward(recompute, Part::input, halves.forward);
    }
    if (halves.backward > Picoseconds(0)) {
      out.weight_gradient = lowering.weight_gradients(halves.backward);
    }
  }
  Binding balanced = setting.binding;  // FLOPs are counted without imbalance
  balanced.expert_imbalance = 1;
  Bytes all;
  Bytes core;
  for (const Operator& op : block.operators) {
    const double parameters = parameters_on_rank(op, setting.binding);
    const bool expert = op.kind == OperatorKind::grouped_gemm;
    (expert ? out.expert_parameters : out.dense_parameters) += parameters;
    Bytes saved = saved_bytes(op, setting.binding, setting.training.precision);
    if (op.kind == OperatorKind::attention && setting.plan.attention == AttentionKernel::unfused) {
      saved += score_bytes(op, setting);
    }
    all += saved;
    out.saved_for_weight_gradient +=
        bytes_for_weight_gradient(op, setting.binding, setting.training.precision);
    if (op.in_attention_core) core += saved;
    if (recompute == Recompute::full ||
        (recompute == Recompute::selective && op.in_attention_core)) {
      out.recomputed += model_flops(op, Phase::forward, balanced);
    }
  }
  switch (recompute) {
    case Recompute::none:
      out.saved = all;
      break;
    case Recompute::selective:
      out.saved = all - core;
      out.working = core;
      break;
    case Recompute::full: {
      // Only the input of the block is kept: 2 bytes a token and channel, sharded with the
      // sequence.
      const Binding& b = setting.binding;
      const double tokens = block.operators.empty() ? 0 : size(block.operators.front().rows, b);
      out.saved = kActivation * (tokens * setting.hidden);
      out.working = all;
      break;
    }
  }
  return out;
}

}  // namespace orrery
