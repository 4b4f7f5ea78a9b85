#include "lower/block_cost.h"

#include <algorithm>

#include "lower/block_lowering.h"

namespace orrery {
namespace {

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
  const std::size_t recomputed = lowering.recomputed_operators();
  for (std::size_t i = 0; i < block.operators.size(); ++i) {
    const Operator& op = block.operators[i];
    const double parameters = parameters_on_rank(op, setting.binding);
    const bool expert = op.kind == OperatorKind::grouped_gemm;
    (expert ? out.expert_parameters : out.dense_parameters) += parameters;
    out.saved_for_weight_gradient +=
        bytes_for_weight_gradient(op, setting.binding, setting.training.precision);
    if ((recompute == Recompute::full && i < recomputed) ||
        (recompute == Recompute::selective && op.in_attention_core)) {
      out.recomputed += model_flops(op, Phase::forward, balanced);
    }
  }
  out.memory = block_memory(block,
                            {.binding = setting.binding,
                             .hidden = setting.hidden,
                             .precision = setting.training.precision,
                             .attention = setting.plan.attention,
                             .facts = setting.costs.software.memory},
                            recompute);
  return out;
}

}  // namespace orrery
