#include "lower/recomputed_work.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "catalog/catalog.h"
#include "model/transformer/transformer.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

Model llama_3_8b() {
  Architecture a;
  a.name = "llama";
  a.num_layers = 32;
  a.hidden = 4096;
  a.num_heads = 32;
  a.num_kv_heads = 8;
  a.head_dim = 128;
  a.ffn_hidden = 14336;
  a.ffn = FeedForwardKind::swiglu;
  a.vocab = 128256;
  auto model = build_model(a);
  if (!model) throw InvariantError(model.error().text());
  return std::move(*model);
}

// Products in the order of torchtitan's layer: query 1, key 2, value 3, projection 4, gate 5, up 6,
// down 7. Even ones run again: 1024 of the 6144 columns of queries, keys and values, all of the
// projection, half of gate and up.
TEST(RecomputedWork, AlternateRunsEverySecondProductAgain) {
  const Model model = llama_3_8b();
  const Block& block = model.blocks[model.layers.front()];
  const std::vector<RecomputedOperator> work =
      recomputed_work(block, {Recompute::alternate, {}, block.operators.size()});
  ASSERT_EQ(work.size(), block.operators.size());
  double again = 0;
  double all = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const Operator& op = block.operators[i];
    if (op.kind == OperatorKind::attention) {
      EXPECT_EQ(work[i].share, 0);
    } else if (op.kind == OperatorKind::elementwise) {
      EXPECT_EQ(work[i].share, 1) << op.name;
    } else if (op.kind == OperatorKind::gemm) {
      all += op.n.factor * op.k.factor;
      again += work[i].share * op.n.factor * op.k.factor;
    }
    if (op.name == "attention.qkv") {
      EXPECT_DOUBLE_EQ(work[i].share, 1024.0 / 6144);
    }
  }
  // h = 4096: (0.25 + 1 + 3.5) of (1.5 + 1 + 7 + 3.5) h^2.
  EXPECT_NEAR(again / all, 4.75 / 13, 1e-9);
}

TEST(RecomputedWork, OtherPoliciesTakeWholeOperators) {
  const Model model = llama_3_8b();
  const Block& block = model.blocks[model.layers.front()];
  const std::size_t count = block.operators.size();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(recomputed_work(block, {Recompute::none, {}, count})[i].share, 0);
    EXPECT_EQ(recomputed_work(block, {Recompute::selective, {}, count})[i].share,
              block.operators[i].in_attention_core ? 1 : 0);
    EXPECT_EQ(recomputed_work(block, {Recompute::full, {}, count - 1})[i].share,
              i + 1 < count ? 1 : 0);
  }
}

std::vector<RecomputedOperator> modules(const Block& block,
                                        std::initializer_list<RecomputeModule> named) {
  const std::vector<RecomputeModule> list(named);
  return recomputed_work(block,
                         {Recompute::selective, RecomputeModuleSet(list), block.operators.size()});
}

std::vector<std::string_view> run_again(const Block& block,
                                        std::initializer_list<RecomputeModule> named) {
  std::vector<std::string_view> out;
  const auto work = modules(block, named);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work[i].share > 0) out.push_back(block.operators[i].name);
  }
  return out;
}

TEST(RecomputedModules, RunAgainWhatTheirNamesSay) {
  const Model model =
      *build_model(*read_architecture(*Catalog::built_in().find("models", "deepseek-v3")));
  ASSERT_EQ(model.blocks.size(), 2U);
  const Block& dense = model.blocks[0];
  const Block& experts = model.blocks[1];
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(run_again(dense, {RecomputeModule::core_attn}), Names{"attention.core"});
  EXPECT_EQ(run_again(dense, {RecomputeModule::layernorm}),
            (Names{"attention.norm", "feed_forward.norm"}));
  EXPECT_EQ(run_again(dense, {RecomputeModule::mla_up_proj}),
            (Names{"attention.latent_norm", "attention.query_up", "attention.key_value_up",
                   "attention.rotary"}));
  EXPECT_EQ(run_again(dense, {RecomputeModule::mlp}),
            (Names{"feed_forward.up", "feed_forward.activation", "feed_forward.down"}));
  EXPECT_EQ(run_again(dense, {RecomputeModule::moe, RecomputeModule::moe_act}), Names{});
  EXPECT_EQ(run_again(experts, {RecomputeModule::mlp}), Names{});
  EXPECT_EQ(run_again(experts, {RecomputeModule::moe_act}), Names{"experts.activation"});
  EXPECT_EQ(run_again(experts, {RecomputeModule::mlp_act}), Names{"shared_expert.activation"});
  EXPECT_EQ(run_again(experts, {RecomputeModule::shared_experts}),
            (Names{"shared_expert.up", "shared_expert.activation", "shared_expert.down"}));
  EXPECT_EQ(run_again(experts, {RecomputeModule::moe}),
            (Names{"router", "experts.dispatch", "experts.up", "experts.activation", "experts.down",
                   "experts.combine", "shared_expert.up", "shared_expert.activation",
                   "shared_expert.down", "shared_expert.sum"}));
}

// A part is there again before the backward of what reads it; of a layer run again as a whole, and
// of what it reads, before the backward of its last operator.
TEST(RecomputedModules, AreMadeBeforeTheirReadersRunBackward) {
  const Model model =
      *build_model(*read_architecture(*Catalog::built_in().find("models", "deepseek-v3")));
  const Block& experts = model.blocks[1];
  const auto before = [&](std::string_view name, std::initializer_list<RecomputeModule> named) {
    const auto work = modules(experts, named);
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (experts.operators[i].name == name) return experts.operators[work[i].before].name;
    }
    return std::string_view();
  };
  EXPECT_EQ(before("attention.norm", {RecomputeModule::layernorm}), "attention.projection");
  EXPECT_EQ(before("attention.rotary", {RecomputeModule::mla_up_proj}), "attention.core");
  EXPECT_EQ(before("experts.activation", {RecomputeModule::moe_act}), "experts.down");
  EXPECT_EQ(before("experts.activation", {RecomputeModule::moe_act, RecomputeModule::moe}),
            "shared_expert.sum");
  EXPECT_EQ(before("feed_forward.norm", {RecomputeModule::layernorm, RecomputeModule::moe}),
            "shared_expert.sum");
}

// One norm before both branches of a parallel block: its readers end with the feed-forward part.
TEST(RecomputedModules, TheNormOfAParallelBlockServesBothBranches) {
  Architecture a;
  a.num_layers = 2;
  a.hidden = 1024;
  a.num_heads = 16;
  a.ffn_hidden = 4096;
  a.ffn = FeedForwardKind::gelu;
  a.vocab = 51200;
  a.parallel_block = true;
  a.parallel_norms = 1;
  const Model model = *build_model(completed(a));
  const Block& block = model.blocks[0];
  const auto work = modules(block, {RecomputeModule::layernorm});
  ASSERT_EQ(block.operators[0].name, "attention.norm");
  EXPECT_EQ(block.operators[work[0].before].name, "feed_forward.down");
}

}  // namespace
}  // namespace orrery
