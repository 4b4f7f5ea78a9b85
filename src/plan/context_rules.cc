#include "plan/context_rules.h"

#include <fmt/core.h>

#include <algorithm>

#include "schedule/schedule.h"

namespace orrery {
namespace {

using Reasons = std::vector<std::string>;

template <class Predicate>
bool any_operator(const Model& model, Predicate holds) {
  return std::ranges::any_of(model.blocks, [&](const Block& block) {
    return std::ranges::any_of(block.operators, holds);
  });
}

bool attends(const Model& model) {
  return any_operator(model, [](const Operator& op) { return op.kind == OperatorKind::attention; });
}

bool carries_states(const Model& model) {
  return any_operator(model, [](const Operator& op) { return op.carried.elements > 0; });
}

// Of what goes round a ring.
void ring_problems(const JudgedPlan& judged, Reasons& out) {
  const Plan& plan = judged.plan;
  const std::int64_t ring = ring_ranks(plan);
  if (plan.context_parallel == ContextParallel::token_ring && plan.cp > 1) {
    if (!attends(judged.model)) {
      out.push_back("context_parallel=token-ring passes queries of attention; " +
                    judged.model.name + " has none; use all-gather");
    }
    if (plan.attention == AttentionKernel::unfused) {
      out.emplace_back(
          "context_parallel=token-ring adds up parts of outputs by the sums that fused attention "
          "returns; with attention=unfused use context_parallel=ring");
    }
  }
  if (plan.inner_ring > 0) {
    const bool divides =
        plan.inner_ring > 1 && plan.inner_ring < ring && ring % plan.inner_ring == 0;
    if (plan.context_parallel != ContextParallel::ring) {
      out.push_back(fmt::format("inner_ring {} needs context_parallel=ring", plan.inner_ring));
    } else if (!divides) {
      out.push_back(fmt::format(
          "inner_ring {0} must divide the {1} ranks of the ring and be neither 1 nor {1}",
          plan.inner_ring, ring));
    }
  }
  if (carries_states(judged.model) && plan.cp > 1 &&
      plan.context_balance == ContextBalance::striped) {
    out.push_back("context_balance=striped: layers of " + judged.model.name +
                  " carry a state from token to token, so that a rank needs consecutive ones; use "
                  "zigzag or contiguous");
  }
}

void group_problems(const JudgedPlan& judged, Reasons& out) {
  const Plan& plan = judged.plan;
  const Documents& documents = judged.training.documents;
  if (plan.cp == 1) {
    out.emplace_back("context_groups=by-length needs cp above 1, the most ranks of a document");
  }
  if (documents.lengths.empty() || documents.packing != Packing::packed) {
    out.emplace_back(
        "context_groups=by-length divides whole documents among groups of ranks: it needs "
        "training.documents with packing: packed");
  }
  const bool exchanges = plan.context_parallel == ContextParallel::all_to_all;
  if ((!exchanges && plan.context_parallel != ContextParallel::all_gather) || plan.ulysses > 0 ||
      plan.context_balance != ContextBalance::zigzag) {
    out.emplace_back(
        "context_groups=by-length is modelled with context_parallel=all-gather or all-to-all, one "
        "group of ranks and the default balance");
  }
  if (plan.ep > 1) {
    out.emplace_back(
        "context_groups=by-length and ep exclude each other: ranks of all groups would wait for "
        "each other's tokens in every layer");
  }
  if (carries_states(judged.model)) {
    out.push_back("context_groups=by-length: layers of " + judged.model.name +
                  " carry a state from token to token, which is not modelled in groups of ranks; "
                  "write context_groups=fixed");
  }
}

void switch_problems(const JudgedPlan& judged, Reasons& out) {
  const Plan& plan = judged.plan;
  if (plan.ulysses > 0) {
    out.emplace_back("context_parallel=dimension-switch exchanges no heads; leave out ulysses");
  }
  if (plan.cp > 1 && !any_operator(judged.model, [](const Operator& op) { return op.turns; })) {
    out.push_back(
        "context_parallel=dimension-switch needs layers that attend along one dimension each, such "
        "as space and time; " +
        judged.model.name + " has none; use all-to-all");
  }
}

}  // namespace

Reasons context_problems(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out;
  if (plan.ulysses > 0 && plan.cp % plan.ulysses != 0) {
    out.push_back(fmt::format("ulysses {} does not divide cp {}", plan.ulysses, plan.cp));
  }
  const bool all_to_all = plan.context_parallel == ContextParallel::all_to_all;
  if (all_to_all && plan.ulysses > 0 && plan.ulysses != plan.cp) {
    out.push_back(
        fmt::format("context_parallel=all-to-all exchanges heads among all cp {} ranks; with "
                    "ulysses {} write context_parallel=ring or all-gather for the others",
                    plan.cp, plan.ulysses));
  }
  if (!out.empty()) return out;
  if (plan.context_balance != ContextBalance::zigzag && ring_ranks(plan) == 1) {
    out.push_back(fmt::format(
        "context_balance={} needs ranks that share the queries of a sequence: cp above 1, and not "
        "all of it exchanging heads",
        to_text(plan.context_balance)));
  }
  if (plan.context_placement != ContextPlacement::head_first &&
      (ring_ranks(plan) == 1 || head_ranks(plan) == 1)) {
    out.push_back(
        fmt::format("context_placement={} needs two context-parallel groups: 1 < ulysses < cp",
                    to_text(plan.context_placement)));
  }
  ring_problems(judged, out);
  if (plan.context_groups == ContextGroups::by_length) group_problems(judged, out);
  if (plan.context_parallel == ContextParallel::dimension_switch) switch_problems(judged, out);
  return out;
}

Reasons row_problems(const JudgedPlan& judged) {
  const Documents& stated = judged.training.documents;
  if (!stated.file.empty()) return {"documents: file " + stated.file + " was not read"};
  if (stated.lengths.empty()) return {};
  bool causal = false;
  for (const Block& block : judged.model.blocks) {
    for (const Operator& op : block.operators) {
      if (op.kind != OperatorKind::attention) continue;
      if (!op.attention.causal || op.attention.cross) {
        return {"documents need causal attention to themselves; " + judged.model.name +
                " has other attention"};
      }
      causal = true;
    }
  }
  if (!causal) return {"documents need attention; " + judged.model.name + " has none"};
  return document_problems(stated, judged.training.sequence_length);
}

Reasons tile_problems(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  Reasons out;
  if (plan.loss_tiles == 1 && plan.mlp_tiles == 1) return out;
  const auto refuse = [&](bool wrong, std::string_view why) {
    if (wrong) out.emplace_back(why);
  };
  refuse(plan.tp > 1,
         "loss_tiles and mlp_tiles work on whole weights (ALST); with tp above 1 use "
         "recompute_modules=mlp, or context_parallel in place of tp");
  refuse(!passes_of(judged.training.workload).backward, "loss_tiles and mlp_tiles need a backward");
  const double tokens = static_cast<double>(judged.training.sequence_length) /
                        static_cast<double>(plan.cp) * static_cast<double>(plan.micro_batch);
  const auto most = static_cast<double>(std::max(plan.loss_tiles, plan.mlp_tiles));
  if (most > tokens) {
    out.push_back(
        fmt::format("{:.0f} tiles are more than the {:.0f} tokens of a rank", most, tokens));
  }
  const auto has = [&](std::string_view name) {
    return any_operator(judged.model, [&](const Operator& op) { return op.name == name; });
  };
  if (plan.mlp_tiles > 1) {
    refuse(!has("feed_forward.down"),
           "mlp_tiles needs layers with a dense feed-forward part; experts are not tiled");
    refuse(plan.recompute == Recompute::alternate,
           "mlp_tiles and recompute=alternate exclude each other; use none, selective or full");
  }
  if (plan.loss_tiles > 1) {
    refuse(std::ranges::none_of(
               judged.model.head.operators,
               [](const Operator& op) { return op.kind == OperatorKind::cross_entropy; }),
           "loss_tiles needs a loss over a vocabulary");
    const auto found = find_schedule(plan.schedule);
    refuse(found && (*found)->splits_vocabulary,
           "loss_tiles and a schedule that divides the vocabulary exclude each other");
  }
  return out;
}

}  // namespace orrery
