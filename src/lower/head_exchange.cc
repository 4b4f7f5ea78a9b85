#include "lower/head_exchange.h"

#include <optional>

namespace orrery {

bool exchanges_heads(const Plan& plan) { return head_ranks(plan) > 1; }

StepGroup head_group(const Plan& plan) {
  return head_ranks(plan) == plan.cp ? StepGroup::context : StepGroup::context_heads;
}

StepGroup ring_group(const Plan& plan) {
  return ring_ranks(plan) == plan.cp ? StepGroup::context : StepGroup::context_ring;
}

HeadExchange head_exchange(const Operator& op, const BlockSetting& setting, Direction direction) {
  const AttentionCore& a = op.attention;
  const Binding& b = setting.binding;
  const double rows = size(op.m, b);
  const double key_rows = size({op.n.factor, op.n.symbol}, b);
  const double heads = a.heads / b.tp;
  const double key_heads = repeats_keys(setting.costs.software) ? heads : a.kv_heads / b.tp;
  const double queries = rows * heads * a.query_key_dim;
  const double keys = key_rows * key_heads * a.query_key_dim;
  const double values = key_rows * key_heads * a.value_dim;
  const double outputs = rows * heads * a.value_dim;
  if (direction == Direction::forward) {
    return {{{"all-to-all of queries", queries},
             {"all-to-all of keys", keys},
             {"all-to-all of values", values}},
            {{"all-to-all of attention outputs", outputs}}};
  }
  return {{{"all-to-all of output gradients", outputs}},
          {{"all-to-all of query gradients", queries},
           {"all-to-all of key gradients", keys},
           {"all-to-all of value gradients", values}}};
}

void exchange(PassBuilder& out, const std::vector<ExchangedTensor>& tensors, StepGroup group,
              Bytes element, Category copies) {
  const auto copy = [&](std::string_view name, const ExchangedTensor& t) {
    out.compute(name, copies, memory_bound(2 * element * t.elements));
  };
  std::vector<std::optional<NodeIndex>> arriving;
  for (const ExchangedTensor& t : tensors) {
    copy("heads and tokens to send", t);
    arriving.push_back(out.transfer(t.name, StepStream::cp, Category::exposed_cp,
                                    Communication{.collective = CollectiveKind::all_to_all,
                                                  .group = index(group),
                                                  .payload = element * t.elements}));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    out.wait_for(arriving[i]);
    copy("heads and tokens in order", tensors[i]);
  }
}

}  // namespace orrery
