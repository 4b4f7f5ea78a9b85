#include "lower/expert_exchange.h"

#include <algorithm>

namespace orrery {
namespace {

// Experts of the whole model that the block's tokens are routed to.
double experts_of(const Block& block) {
  for (const Operator& op : block.operators) {
    if (op.kind == OperatorKind::grouped_gemm) return std::max(1.0, op.groups.factor);
  }
  return 1;
}

// An element of 8 bits with its part of the fp32 scale of 128 (arXiv 2412.19437 s.3.3).
constexpr Bytes kScaled8Bits{1 + 4.0 / 128};

double top_k_of(const Operator& op) { return std::max(1.0, op.rows.factor); }

ExpertGroups limit_of(const Operator& op) {
  if (op.expert_groups <= 1 || op.chosen_groups < 1) return {};
  return {op.expert_groups, op.chosen_groups};
}

}  // namespace

std::string_view name_of(Way way) {
  switch (way) {
    case Way::tokens_out:
      return "tokens to experts";
    case Way::tokens_back:
      return "tokens from experts";
    case Way::gradients_out:
      return "gradients to experts";
    case Way::gradients_back:
      return "gradients from experts";
  }
  return "";
}

std::vector<Communication> token_communications(const Block& block, const Operator& op,
                                                const BlockSetting& setting, Way way) {
  const Binding& b = setting.binding;
  const double rows = size(op.rows, b) / std::max(1, b.etp);
  const bool away = way == Way::tokens_out || way == Way::gradients_out;
  const bool narrow = away && setting.plan.dispatch_format == NumberFormat::fp8;
  const Bytes row =
      (narrow ? kScaled8Bits : tensor_element_size(setting.training.precision)) * size(op.width, b);
  Communication out{.collective = CollectiveKind::all_to_all,
                    .group = index(StepGroup::expert),
                    .payload = row * rows};
  if (setting.plan.dispatch == ExpertDispatch::two_level) {
    Communication inside = out;
    inside.group = index(StepGroup::expert_node);
    out.group = index(StepGroup::expert_peers);
    if (away) return {out, inside};
    return {inside, out};
  }
  if (setting.plan.dispatch == ExpertDispatch::deduplicated) {
    const double top_k = top_k_of(op);
    out.tokens = TokenExchange{rows / top_k, row, top_k, experts_of(block), away, limit_of(op)};
  }
  return {out};
}

OperatorWork permutation_work(const Block& block, const Operator& op, const BlockSetting& setting,
                              Direction direction) {
  const double top_k = top_k_of(op);
  if (setting.plan.expert_products == ExpertProducts::scattered &&
      op.boundary == Boundary::dispatch) {
    return direction == Direction::forward ? OperatorWork{0, 0}
                                           : OperatorWork{2 * (1 + 1 / top_k), 2};
  }
  const double experts = experts_of(block);
  const double ranks = setting.binding.ep;
  if (ranks <= 1) return {1 + 1 / top_k, 1};
  if (setting.plan.dispatch == ExpertDispatch::deduplicated) {
    return {1 + distinct_units(ranks, experts, top_k, limit_of(op)) / top_k, 1};
  }
  OperatorWork out{1 + 1 / top_k, 1};
  const auto sort = [&] {
    out.passes += 2;
    ++out.kernels;
  };
  if (experts > ranks) sort();
  // Between the levels, where there are two.
  const RankLayout& layout = setting.layout;
  const bool levels = layout.ep_node.size > 1 && layout.ep_peers.size > 1;
  if (setting.plan.dispatch == ExpertDispatch::two_level && levels) sort();
  return out;
}

}  // namespace orrery
