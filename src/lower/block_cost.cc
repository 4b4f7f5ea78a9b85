#include "lower/block_cost.h"

#include <algorithm>

#include "lower/block_lowering.h"
#include "lower/cost_context.h"
#include "lower/expert_launches.h"
#include "lower/sequence_tiles.h"

namespace orrery {
namespace {

// How long the device waits for the host in each of two passes that follow each other.
//
// The host queues kernels ahead of the device, so that a pass it launches faster than the device
// works gives it a lead for the next: the two together take max(device, host). The wait is booked
// on the pass that falls behind. Where the host waits for the device between passes, or in every
// forward for the counts of experts, there is no lead; passes of two microbatches that run side by
// side share the one wait.
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

// What a forward and a backward of different microbatches hide of each other's exchanges when they
// run side by side (lower/paired_pass.h), block by block:
//
//   hidden = min(x_F, c_B) in the forward, min(x_B, c_F) in the backward
//
// c: what a pass computes, x: its exposed exchanges. Each keeps what is not hidden, and loses to
// the other's what interference takes, at most what that hides. The first and last passes of a step
// have no partner; they are priced like the others. The additional microbatch that is held in
// memory is not counted.
struct Surroundings {
  PassSurroundings forward, backward;
};
Surroundings beside_each_other(const BlockPass& forward, const BlockPass& backward,
                               const BlockSetting& setting) {
  Surroundings out;
  if (!setting.plan.overlap.expert_batches || setting.layout.ep.size <= 1) return out;
  constexpr Bytes kExchange{32 * 1024 * 1024};  // chooses the algorithm
  const double lost =
      setting.costs.interference(CollectiveKind::all_to_all, kExchange, setting.layout.ep)
          .compute_share;
  const auto meet = [lost](const BlockPass& own, const BlockPass& other, PassSurroundings& around,
                           PassSurroundings& other_around) {
    const Picoseconds exposed = own.breakdown[Category::exposed_ep];
    if (!(exposed > Picoseconds(0))) return;
    const Picoseconds hidden = std::min(exposed, other.computing());
    around.exchange_share = 1 - hidden.count() / exposed.count();
    other_around.slowed = std::min(hidden, contention(other.computing(), hidden, lost));
  };
  meet(forward, backward, out.forward, out.backward);
  meet(backward, forward, out.backward, out.forward);
  return out;
}

}  // namespace

BlockCost block_cost(const Block& block, const BlockSetting& setting, Recompute recompute,
                     Backward kind) {
  BlockLowering lowering(block, setting);
  BlockCost out;
  const bool trains = passes_of(setting.training.workload).backward;
  out.forward = lowering.forward();
  if (trains) out.backward = lowering.backward(recompute, Part::both);
  const SoftwareProfile& software = setting.costs.software;
  const bool paired = setting.plan.overlap.expert_batches && setting.layout.ep.size > 1;
  const bool no_lead = (setting.plan.pp > 1 && software.host.waits != HostWaits::never) ||
                       (reads_counts(block, setting) && !paired);
  Surroundings around = beside_each_other(out.forward, out.backward, setting);
  if (setting.plan.overlap.expert_batches) {
    out.forward = lowering.forward(around.forward);
    out.backward = lowering.backward(recompute, Part::both, around.backward);
  }
  const Idle wait = idle(out.forward, out.backward, no_lead);
  around.forward.idle = wait.forward;
  around.backward.idle = wait.backward;
  if (wait.forward > Picoseconds(0)) out.forward = lowering.forward(around.forward);
  if (wait.backward > Picoseconds(0)) {
    out.backward = lowering.backward(recompute, Part::both, around.backward);
  }
  if (kind == Backward::split) {
    out.input_gradient = lowering.backward(recompute, Part::input);
    out.weight_gradient = lowering.weight_gradients();
    const Idle halves = idle(out.input_gradient, out.weight_gradient, no_lead);
    if (halves.forward > Picoseconds(0)) {
      out.input_gradient = lowering.backward(recompute, Part::input, {halves.forward, {}, 1});
    }
    if (halves.backward > Picoseconds(0)) {
      out.weight_gradient = lowering.weight_gradients({halves.backward, {}, 1});
    }
  }
  Binding balanced = setting.binding;  // FLOPs are those of kept tokens
  balanced.expert_imbalance = setting.kept_tokens;
  const std::vector<RecomputedOperator> again = lowering.recomputed(recompute);
  const SequenceTiles tiles = sequence_tiles(setting.plan);
  for (std::size_t i = 0; i < block.operators.size(); ++i) {
    const Operator& op = block.operators[i];
    const double parameters = parameters_on_rank(op, setting.binding);
    // Experts that expert parallelism does not divide are replicated as dense weights are.
    const bool expert =
        op.kind == OperatorKind::grouped_gemm && op.parameter_axis == LogicalAxis::experts;
    const bool frozen = op.frozen || !trains;
    RankParameters& of = frozen ? out.frozen : out.trained;
    if (op.kind == OperatorKind::embedding_bag) {
      out.tables += {op.bags.weights, trains ? op.bags.optimizer_state : Bytes(0)};
      continue;
    }
    if (op.bags.weights > Bytes(0)) {
      out.tables += {op.bags.weights, trains ? op.bags.optimizer_state : Bytes(0)};
    } else {
      (expert ? of.expert : of.dense) += parameters;
    }
    const bool large = is_product(op) || op.kind == OperatorKind::embedding;
    if (large && parameters > 0) {
      ++out.weight_tensors;
      if (!frozen) ++out.trained_tensors;
    }
    out.saved_for_weight_gradient +=
        bytes_for_weight_gradient(op, setting.binding, setting.training.precision);
    const double share = again[i].share + (trains && in_tiled_mlp(op, tiles) ? 1 : 0);
    if (share > 0) {
      const bool masked = setting.documents != nullptr && op.kind == OperatorKind::attention;
      out.recomputed += model_flops(op, Phase::forward, balanced) * share *
                        (masked ? setting.documents->computed_pairs(op.attention) : 1);
    }
  }
  out.memory = block_memory(
      block,
      {.binding = setting.binding,
       .hidden = setting.hidden,
       .precision = setting.training.precision,
       .workload = setting.training.workload,
       .attention = setting.plan.attention,
       .exchanges_heads = exchanges_heads(setting.plan),
       .expert_products = setting.plan.expert_products,
       .attention_outputs = software.attention_copies == AttentionCopies::kept_layout ? 2.0 : 1.0,
       .facts = software.memory,
       .modules = RecomputeModuleSet(setting.plan.recompute_modules),
       .tiles = tiles},
      recompute);
  return out;
}

}  // namespace orrery
