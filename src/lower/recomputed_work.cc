#include "lower/recomputed_work.h"

#include "lower/recomputed_modules.h"

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

std::vector<RecomputedOperator> recomputed_work(const Block& block, const Recomputation& what) {
  if (what.policy == Recompute::selective) return recomputed_modules(block, what.modules);
  std::vector<RecomputedOperator> out(block.operators.size());
  int products = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Operator& op = block.operators[i];
    double& share = out[i].share;
    out[i].before = out.size() - 1;
    if (what.policy == Recompute::full) {
      share = 1;
    } else if (what.policy == Recompute::alternate) {
      if (op.kind == OperatorKind::gemm) {
        for (const double columns : columns_of(block, i)) {
          if (++products % 2 == 0) share += columns;
        }
      } else if (op.kind != OperatorKind::attention) {
        share = 1;
      }
    }
    if (i >= what.end) share = 0;
  }
  return out;
}

}  // namespace orrery
