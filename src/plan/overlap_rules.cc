#include "plan/overlap_rules.h"

#include <fmt/core.h>

#include <algorithm>

#include "model/model.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

using Reasons = std::vector<std::string>;

// Whether the second half of a sequence can follow the first: a token sees those before it, and all
// of those that its half of the sequence does not have are in the half before.
bool can_cut_sequences(const Model& model) {
  for (const Block& block : model.blocks) {
    for (const Operator& op : block.operators) {
      if (op.kind != OperatorKind::attention) continue;
      const AttentionCore& a = op.attention;
      if (!a.causal || a.cross || a.chunked) return false;
    }
  }
  return true;
}

// Of experts that read what the layer before has made.
Reasons shortcut_problems(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  const auto reads_shortcut = [](const Block& block) {
    return block.residual == Residual::shortcut;
  };
  if (std::ranges::none_of(judged.model.blocks, reads_shortcut)) return {};
  Reasons out;
  if (plan.overlap.expert || plan.overlap.expert_batches || plan.halves != Halves::none) {
    out.push_back("residual shortcut of " + judged.model.name +
                  " hides the exchanges of tokens already; leave out overlap.expert, "
                  "overlap.expert_batches and halves");
  }
  const auto schedule = find_schedule(plan.schedule);
  if (schedule && (*schedule)->pairs_passes) {
    out.push_back("residual shortcut of " + judged.model.name +
                  " hides the exchanges of tokens already; schedule " + plan.schedule +
                  " hides them behind the other pass of a pair: use schedule=1f1b");
  }
  if (plan.recompute == Recompute::alternate) {
    out.push_back("residual shortcut of " + judged.model.name +
                  " and recompute=alternate are not modelled together; full works");
  }
  return out;
}

}  // namespace

bool hides_sums(const Model& model, const Plan& plan) {
  return plan.halves != Halves::none || std::ranges::any_of(model.blocks, [](const Block& block) {
           return sums_late(block.residual);
         });
}

Reasons expert_batch_problems(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out;
  if (!plan.overlap.expert_batches) return out;
  if (plan.ep <= 1) out.emplace_back("overlap.expert_batches needs ep above 1");
  if (judged.model.tables > 0) {
    out.push_back("overlap.expert_batches needs experts; " + judged.model.name + " has none");
  }
  // NVIDIA/Megatron-LM core_v0.15.0 megatron/core/transformer/transformer_config.py:1475 to 1477:
  // "disable moe_shared_expert_overlap when enabling overlap_moe_expert_parallel_comm".
  if (plan.overlap.expert) {
    out.emplace_back(
        "overlap.expert_batches and overlap.expert hide the same exchanges: use one of them");
  }
  if (plan.schedule != "1f1b" && plan.schedule != "interleaved_1f1b") {
    out.push_back(
        "overlap.expert_batches needs schedule 1f1b or interleaved_1f1b, whose forwards and "
        "backwards alternate; this is " +
        plan.schedule);
  }
  if (plan.recompute == Recompute::full || plan.recompute == Recompute::alternate) {
    out.push_back(fmt::format(
        "overlap.expert_batches and recompute={} exclude each other: the backward would send "
        "tokens away again",
        to_text(plan.recompute)));
  }
  return out;
}

Reasons half_problems(const JudgedPlan& judged) {
  const auto& [model, cluster, training, plan] = judged;
  Reasons out;
  if (plan.halves == Halves::none) return out;
  const std::string stated = fmt::format("halves={}", to_text(plan.halves));
  if (model.tables > 0) return {stated + " is not modelled for embedding tables"};
  if (plan.tp == 1 && plan.ep == 1) {
    return {stated + " hides collectives between the layers; with tp 1 and ep 1 there are none"};
  }
  if (plan.tp > 1 && plan.sequence_parallel) {
    out.push_back(stated +
                  " hides all-reduces: with sequence_parallel=true each product waits for its own "
                  "gather; write sequence_parallel=false, or overlap.tensor_parallel=on");
  }
  if (plan.overlap.tensor_parallel || plan.overlap.tensor_tiles || plan.overlap.expert_batches) {
    out.push_back(stated +
                  " and overlap.tensor_parallel, tensor_tiles or expert_batches hide the same "
                  "collectives: use one of them");
  }
  if (plan.recompute == Recompute::alternate) {
    out.push_back(stated + " and recompute=alternate are not modelled together; full works");
  }
  if (plan.halves == Halves::batch) {
    if (plan.micro_batch % 2 != 0) {
      out.push_back(fmt::format("{} needs an even number of sequences; micro_batch is {}", stated,
                                plan.micro_batch));
    }
    return out;
  }
  if (plan.cp > 1) {
    out.push_back(
        fmt::format("{} and cp {} both cut sequences: write halves=batch", stated, plan.cp));
  }
  if (training.sequence_length % 2 != 0) {
    out.push_back(fmt::format("{} needs an even length; the sequence has {} tokens", stated,
                              training.sequence_length));
  }
  if (!training.documents.lengths.empty()) {
    out.push_back(stated + " and documents are not modelled together: write halves=batch");
  }
  if (!can_cut_sequences(model)) {
    out.push_back(stated + " needs attention to earlier tokens alone; " + model.name +
                  " has other attention");
  }
  return out;
}

Reasons reduction_problems(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out = shortcut_problems(judged);
  if (plan.overlap.tensor_tiles && plan.tp == 1) {
    out.emplace_back("overlap.tensor_tiles needs tp above 1: there is nothing to reduce");
  }
  if (plan.overlap.tensor_tiles && plan.overlap.tensor_parallel) {
    out.emplace_back(
        "overlap.tensor_tiles and overlap.tensor_parallel both cut products: use one of them");
  }
  const auto late = std::ranges::find_if(
      judged.model.blocks, [](const Block& block) { return sums_late(block.residual); });
  if (plan.tp > 1 && late != judged.model.blocks.end()) {
    const bool ladder = late->residual == Residual::ladder;
    const std::string stated = ladder ? "residual ladder" : "residual kraken";
    if (plan.halves != Halves::none || plan.overlap.tensor_tiles || plan.overlap.tensor_parallel) {
      out.push_back(stated + " of " + judged.model.name +
                    " hides these sums already; leave out halves, overlap.tensor_tiles and "
                    "overlap.tensor_parallel");
    }
    if (plan.sequence_parallel) {
      out.push_back(ladder
                        ? stated + " of " + judged.model.name +
                              " hides all-reduces; with sequence_parallel=true every product "
                              "waits for its own gather: write sequence_parallel=false"
                        : "each rank of " + judged.model.name +
                              " has a residual stream of its own: write sequence_parallel=false");
    }
  }
  if (plan.gradient_bucket_mib == 0) return out;
  if (plan.zero > 1 || !plan.overlap.gradient_reduction) {
    out.push_back(
        fmt::format("gradient_bucket_mib {} needs zero=0 or 1 and overlap.gradient_reduction=on; "
                    "this is zero {}",
                    plan.gradient_bucket_mib, plan.zero));
  }
  return out;
}

}  // namespace orrery
