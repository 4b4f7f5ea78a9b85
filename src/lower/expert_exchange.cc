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

double top_k_of(const Operator& op) { return std::max(1.0, op.rows.factor); }

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

Communication token_communication(const Block& block, const Operator& op,
                                  const BlockSetting& setting, Way way) {
  const Binding& b = setting.binding;
  const double rows = size(op.rows, b) / std::max(1, b.etp);
  const Bytes row = tensor_element_size(setting.training.precision) * size(op.width, b);
  Communication out{.collective = CollectiveKind::all_to_all,
                    .group = index(StepGroup::expert),
                    .payload = row * rows};
  if (setting.plan.dispatch != ExpertDispatch::all_to_all) {
    const double top_k = top_k_of(op);
    out.tokens = TokenExchange{rows / top_k, row, top_k, experts_of(block),
                               way == Way::tokens_out || way == Way::gradients_out};
  }
  return out;
}

OperatorWork permutation_work(const Block& block, const Operator& op, const BlockSetting& setting) {
  const double top_k = top_k_of(op);
  const double experts = experts_of(block);
  const double ranks = setting.binding.ep;
  if (ranks <= 1) return {1 + 1 / top_k, 1};
  if (setting.plan.dispatch == ExpertDispatch::deduplicated) {
    return {1 + distinct_units(ranks, experts, top_k) / top_k, 1};
  }
  if (experts <= ranks) return {1 + 1 / top_k, 1};
  return {3 + 1 / top_k, 2};
}

}  // namespace orrery
