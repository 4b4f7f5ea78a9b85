#include "lower/recomputed_work.h"

#include <string_view>

namespace orrery {
namespace {

// Columns of each product that one operator stands for, as shares.
std::vector<double> columns_of(const Block& block, std::size_t index) {
  const Operator& op = block.operators[index];
  if (op.name == "attention.qkv") {
    for (std::size_t i = index + 1; i < block.operators.size(); ++i) {
      const Operator& core = block.operators[i];
      if (core.kind != OperatorKind::attention) continue;
      const AttentionCore& a = core.attention;
      const double query = a.heads * a.query_key_dim;
      const double key = a.kv_heads * a.query_key_dim;
      const double value = a.kv_heads * a.value_dim;
      const double all = query + key + value;
      return {query / all, key / all, value / all};
    }
  }
  const auto joined = static_cast<std::size_t>(op.joined > 1 ? op.joined : 1);
  return std::vector<double>(joined, 1.0 / static_cast<double>(joined));
}

}  // namespace

std::vector<double> recomputed_shares(const Block& block, Recompute recompute, std::size_t end) {
  std::vector<double> out(block.operators.size(), 0.0);
  int products = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Operator& op = block.operators[i];
    switch (recompute) {
      case Recompute::none:
        break;
      case Recompute::selective:
        out[i] = op.in_attention_core ? 1 : 0;
        break;
      case Recompute::full:
        out[i] = i < end ? 1 : 0;
        break;
      case Recompute::alternate:
        if (op.kind == OperatorKind::gemm) {
          for (const double share : columns_of(block, i)) {
            if (++products % 2 == 0) out[i] += share;
          }
        } else if (op.kind != OperatorKind::attention) {
          out[i] = 1;
        }
        if (i >= end) out[i] = 0;
        break;
    }
  }
  return out;
}

}  // namespace orrery
