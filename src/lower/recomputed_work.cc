#include "lower/recomputed_work.h"

#include <algorithm>
#include <string_view>

namespace orrery {
namespace {

// The operators of a block that each module of selective recomputation runs again
// (plan/recompute_modules.h), and what need not be kept for it.

Discarded together(Discarded a, Discarded b) {
  if (a == b || b == Discarded::nothing) return a;
  return a == Discarded::nothing ? b : Discarded::all;
}

bool is_activation(const Operator& op) {
  return op.elementwise == ElementwiseKind::gated_activation ||
         op.elementwise == ElementwiseKind::activation;
}

class ModuleReader {
 public:
  ModuleReader(const Block& block, const RecomputeModuleSet& modules)
      : operators_(block.operators), modules_(modules), out_(block.operators.size()) {}

  std::vector<RecomputedOperator> read() {
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      const Operator& op = operators_[i];
      if (modules_.has(RecomputeModule::core_attn) && op.in_attention_core) {
        run_again(i, i);
        discard(i, Discarded::all, i);
      }
      if (modules_.has(RecomputeModule::layernorm) &&
          (op.name == "attention.norm" || op.name == "feed_forward.norm")) {
        discard_output(i, end_of_branch(i));
      }
      if (modules_.has(RecomputeModule::mla_up_proj) && op.name == "attention.latent_norm") {
        up_projections(i);
      }
      if (is_activation(op) &&
          modules_.has(op.name == "experts.activation" ? RecomputeModule::moe_act
                                                       : RecomputeModule::mlp_act)) {
        discard_output(i, i + 1);
      }
      if (modules_.has(RecomputeModule::mlp) && op.name == "feed_forward.up") {
        checkpoint(i, end_of_branch(i));
      }
      if (modules_.has(RecomputeModule::moe) && op.name == "router") {
        checkpoint(i, end_of_branch(i));
      }
      if (modules_.has(RecomputeModule::shared_experts) && op.name == "shared_expert.up") {
        checkpoint(i, end_of(i, "shared_expert.down"));
      }
    }
    return std::move(out_);
  }

 private:
  void run_again(std::size_t i, std::size_t before) {
    out_[i].share = 1;
    out_[i].before = std::max(out_[i].before, before);
  }
  void discard(std::size_t i, Discarded what, std::size_t before) {
    out_[i].discarded = together(out_[i].discarded, what);
    out_[i].before = std::max(out_[i].before, before);
  }

  // Products that read what the operator before `i` wrote: `i` and an adapter beside it.
  [[nodiscard]] bool reads_with(std::size_t first, std::size_t i) const {
    return i == first ||
           (i == first + 1 && i < operators_.size() && operators_[i].name == "adapter.down");
  }

  // The operator is run again `before` the backward of another; its output is not kept.
  void discard_output(std::size_t i, std::size_t before) {
    if (i + 1 >= operators_.size()) return;
    before = std::max(before, i + 1);
    run_again(i, before);
    for (std::size_t j = i + 1; j < operators_.size() && reads_with(i + 1, j); ++j) {
      if (operators_[j].keeps_input) discard(j, Discarded::input, before);
    }
  }

  // Only the input of the operators from `first` to `last` is kept, and all run again before them.
  void checkpoint(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last; ++i) {
      run_again(i, last);
      const bool holds = reads_with(first, i) && operators_[i].keeps_input;
      discard(i, holds ? Discarded::all_but_input : Discarded::all, last);
    }
  }

  // Kept are the latents that the norm reads: in Megatron-Core the norms are part of the products
  // behind them (gpt_layer_specs.py: TELayerNormColumnParallelLinear).
  void up_projections(std::size_t norm) {
    std::size_t core = norm;
    while (core < operators_.size() && !operators_[core].in_attention_core) ++core;
    if (core == operators_.size()) return;
    run_again(norm, core);
    for (std::size_t i = norm + 1; i < core; ++i) {
      run_again(i, core);
      discard(i, Discarded::all, core);
    }
  }

  // The last operator before the branch of `i` is normed, added to the residual stream, or followed
  // by the next branch.
  [[nodiscard]] std::size_t end_of_branch(std::size_t i) const {
    std::size_t end = i;
    while (end + 1 < operators_.size()) {
      const std::string_view next = operators_[end + 1].name;
      if (next.ends_with(".residual") || next.ends_with(".post_norm") ||
          next == "feed_forward.norm" || next == "cross_attention.norm") {
        break;
      }
      ++end;
    }
    return end;
  }
  [[nodiscard]] std::size_t end_of(std::size_t i, std::string_view name) const {
    while (i + 1 < operators_.size() && operators_[i].name != name) ++i;
    return i;
  }

  const std::vector<Operator>& operators_;
  const RecomputeModuleSet& modules_;
  std::vector<RecomputedOperator> out_;
};

std::vector<RecomputedOperator> recomputed_modules(const Block& block,
                                                   const RecomputeModuleSet& modules) {
  return ModuleReader(block, modules).read();
}

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
