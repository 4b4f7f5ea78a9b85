// Attention of rows that as many context-parallel ranks share as their documents need
// (lower/document_rows.h): of a mean microbatch, so that each exchange counts with the share of the
// positions that take part in it.
//
//   all-gather   2 b d (s/c) columns / tp of keys and values, among d ranks
//   all-to-all   2 b (s/c) columns / tp of each tensor (lower/head_exchange.h), among d ranks
#include "lower/block_lowering.h"
#include "lower/head_exchange.h"

namespace orrery {

void BlockLowering::attend_by_length(PassBuilder& out, const Operator& op, Category category,
                                     const Kernel& kernel, bool after) {
  const bool heads = s_.plan.context_parallel == ContextParallel::all_to_all;
  const HeadExchange tensors =
      head_exchange(op, s_, after ? Direction::backward : Direction::forward);
  const auto each_group = [&](auto&& visit) {
    std::size_t group = kStepGroups;
    for (const DocumentRows::Group& g : s_.documents->groups()) {
      if (g.ranks > 1 && g.share > 0) visit(g, GroupIndex(group));
      ++group;
    }
  };
  const auto exchange_heads = [&](std::vector<ExchangedTensor> some) {
    each_group([&](const DocumentRows::Group& g, GroupIndex group) {
      std::vector<ExchangedTensor> part = some;
      for (ExchangedTensor& t : part) t.elements *= g.share;
      exchange(out, part, static_cast<StepGroup>(group.value()), element(), category);
    });
  };
  const auto of_keys = [&](std::string_view name, CollectiveKind kind) {
    each_group([&](const DocumentRows::Group& g, GroupIndex group) {
      const double part = static_cast<double>(g.ranks) / s_.binding.cp;
      out.wait_for(out.transfer(name, StepStream::cp, Category::exposed_cp,
                                Communication{.collective = kind,
                                              .group = group,
                                              .payload = key_value_bytes(op) * part,
                                              .times = g.share}));
    });
  };
  if (heads) {
    exchange_heads(tensors.before);
  } else {
    of_keys("all-gather of keys and values", CollectiveKind::all_gather);
  }
  attend(out, op, category, kernel, after ? Phase::input_gradient : Phase::forward);
  if (heads) {
    exchange_heads(tensors.behind);
  } else if (after) {
    of_keys("reduce-scatter of their gradients", CollectiveKind::reduce_scatter);
  }
}

}  // namespace orrery
