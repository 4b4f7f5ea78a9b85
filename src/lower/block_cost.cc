#include "lower/block_cost.h"

#include <algorithm>

#include "lower/block_lowering.h"
#include "lower/expert_exchange.h"
#include "lower/expert_launches.h"
#include "lower/price.h"
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
// run side by side, block by block. Exchanges follow each other on one stream, computing on another:
//
//   exchanges   gradients out | tokens out | gradients back | tokens back
//   computing   F attention   | B experts  | F experts      | B attention
//
//   hidden = min(x, c) of each of the four
//
// c: what a part of a pass computes (experts, and all else), x: its exposed exchanges. The experts
// of F wait for their tokens, and gradients go back when the experts of B are done; with
// delay_wgrad_compute, which is not modelled, the weight gradients of B would run beside gradients
// back as well. Each pass keeps what is not hidden, and loses to the other's what interference
// takes, at most what that hides. The first and last passes of a step have no partner and are not
// priced here (lower/pass_partner.h). The additional microbatch that is held in memory is not
// counted. Source: NVIDIA/Megatron-LM core_v0.15.0
// megatron/core/models/common/model_chunk_schedule_plan.py:181
// (TransformerLayerSchedulePlan.run). DualPipe pairs whole stages: lower/paired_pass.h.
struct Surroundings {
  PassSurroundings forward, backward;
};

bool runs_beside_another(const BlockSetting& setting) {
  return setting.plan.overlap.expert_batches && setting.layout.ep.size > 1;
}

// The part of a pass's exchanges that goes `way`, of two.
double share_of(Way way, Way other, const Block& block, const BlockSetting& setting) {
  const auto time = [&](Way w) {
    const bool dispatch = w == Way::tokens_out || w == Way::gradients_back;
    Seconds sum;
    for (const Operator& op : block.operators) {
      if (op.boundary != (dispatch ? Boundary::dispatch : Boundary::combine)) continue;
      for (const Communication& c : token_communications(block, op, setting, w)) {
        sum += price(c, setting.layout.groups, setting.costs);
      }
    }
    return sum;
  };
  const Seconds both = time(way) + time(other);
  return both > Seconds(0) ? time(way) / both : 0;
}

Surroundings beside_each_other(const BlockPass& forward, const BlockPass& backward,
                               const Block& block, const BlockSetting& setting) {
  Surroundings out;
  if (!runs_beside_another(setting)) return out;
  constexpr Bytes kExchange{32 * 1024 * 1024};  // chooses the algorithm
  const double lost =
      setting.costs.interference(CollectiveKind::all_to_all, kExchange, setting.layout.ep)
          .compute_share;
  const auto experts = [](const BlockPass& pass) {
    return pass.breakdown[Category::experts].seconds();
  };
  const auto exchanged = [](const BlockPass& pass) {
    return pass.breakdown[Category::exposed_ep].seconds();
  };
  const Seconds tokens_out =
      exchanged(forward) * share_of(Way::tokens_out, Way::tokens_back, block, setting);
  const Seconds gradients_back =
      exchanged(backward) * share_of(Way::gradients_back, Way::gradients_out, block, setting);
  // Tokens out beside the experts of B, gradients back beside those of F.
  const auto meet = [&](const BlockPass& own, Seconds to_experts, const BlockPass& other,
                        PassSurroundings& around, PassSurroundings& other_around) {
    const Seconds exposed = exchanged(own);
    if (!(exposed > Seconds(0))) return;
    const Seconds beside = other.computing().seconds() - experts(other);
    const Seconds hidden =
        std::min(exposed - to_experts, beside) + std::min(to_experts, experts(other));
    around.exchange_share = 1 - hidden / exposed;
    const Picoseconds most = setting.costs.rounded(hidden);
    other_around.slowed = std::min(most, setting.costs.contention(other.computing(), most, lost));
  };
  meet(forward, tokens_out, backward, out.forward, out.backward);
  meet(backward, gradients_back, forward, out.backward, out.forward);
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
  const bool transfer_wait = setting.plan.pp > 1 && software.host.waits != HostWaits::never;
  const bool no_lead =
      transfer_wait || (reads_counts(block, setting) && !runs_beside_another(setting));
  Surroundings around = beside_each_other(out.forward, out.backward, block, setting);
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
    // A backward waits for counts only where it sends tokens away again.
    const bool counts_again = reads_counts(block, setting) && lowering.sends_again(recompute);
    const Idle halves =
        idle(out.input_gradient, out.weight_gradient, transfer_wait || counts_again);
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
