// Low-rank adapters: what is trained, what is computed and what is kept, against counts by hand.
#include "model/transformer/adapted_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::HasSubstr;

Architecture llama_70b() {
  Architecture a;
  a.num_layers = 80;
  a.hidden = 8192;
  a.ffn_hidden = 28672;
  a.num_heads = 64;
  a.num_kv_heads = 8;
  a.vocab = 32000;
  return a;
}

Model adapted(std::int64_t rank, AdaptedProducts products = AdaptedProducts::attention) {
  auto model = with_adapters(*build_model(llama_70b()), {rank, products});
  EXPECT_TRUE(model) << model.error().text();
  return model.value_or(Model{});
}

// Each product of m x n weights has an adapter of rank (m + n): of a layer's joined queries, keys
// and values 8192 x 10240, of its output 8192 x 8192.
TEST(AdaptedBlock, OnlyTheAdaptersAreTrained) {
  const Model plain = *build_model(llama_70b());
  EXPECT_EQ(trained_parameters(plain), parameters(plain));
  const double attention = 80 * 16.0 * (8192 + 10240 + 8192 + 8192);
  EXPECT_EQ(trained_parameters(adapted(16)), attention);
  EXPECT_EQ(parameters(adapted(16)), parameters(plain) + attention);
  const double feed_forward = 80 * 16.0 * (8192 + 2 * 28672 + 28672 + 8192);
  EXPECT_EQ(trained_parameters(adapted(16, AdaptedProducts::all)), attention + feed_forward);
  EXPECT_EQ(trained_parameters(adapted(64)), 4 * attention);
}

// Of every frozen product two of three phases remain; attention has no weights to freeze.
TEST(AdaptedBlock, FrozenProductsLoseAThirdOfTheirFlops) {
  const auto flops = [](const Model& model) {
    return model_flops_per_sequence(model, 4096, AttentionCount::full).value();
  };
  Model plain = *build_model(llama_70b());
  const double all = flops(plain);
  for (Block& block : plain.blocks)
    std::erase_if(block.operators,
                  [](const Operator& op) { return op.kind != OperatorKind::attention; });
  plain.head.operators.clear();
  const double attention = flops(plain);
  const double adapters = 6 * 4096 * trained_parameters(adapted(16));
  EXPECT_NEAR(flops(adapted(16)), attention + (all - attention) * 2 / 3 + adapters, 1e-9 * all);
}

// By hand, bytes a token and channel (h): two norms' inputs 2 + 2, the adapter's copy of the input
// 2, queries, keys and values 2.5, the attention's output 2, gate and up 14; a log-sum-exp of 4
// bytes a head and the narrow results of two adapters beside.
TEST(AdaptedBlock, KeepsNoInputsForGradientsThatNobodyAsksFor) {
  Binding b;
  b.sequence_length = 4096;
  const Model model = adapted(16);
  double kept = 0;
  for (const Operator& op : model.blocks[0].operators) {
    kept += saved_bytes(op, b, NumberFormat::bf16).value();
    EXPECT_EQ(bytes_for_weight_gradient(op, b, NumberFormat::bf16).value() > 0, op.adapter)
        << op.name;
  }
  const double tokens = 4096;
  EXPECT_EQ(kept, tokens * (24.5 * 8192 + 4 * 64 + 2 * 2 * 16));
}

TEST(AdaptedBlock, DivisionOverTensorParallelRanksConservesTheAdaptersWork) {
  Binding whole;
  whole.sequence_length = 4096;
  Binding cut = whole;
  cut.tp = 8;
  cut.sequence_parallel = true;
  const Model model = adapted(16);
  int whole_on_every_rank = 0;
  for (const Operator& op : model.blocks[0].operators) {
    if (!op.adapter) continue;
    const double one = model_flops(op, Phase::forward, whole).value();
    const double ranks = 8 * model_flops(op, Phase::forward, cut).value();
    // A beside the column product works on the gathered input, whole on every rank.
    const bool repeated = op.name == "adapter.down" && op.boundary == Boundary::none;
    whole_on_every_rank += repeated ? 1 : 0;
    EXPECT_EQ(ranks, repeated ? 8 * one : one) << op.name;
  }
  EXPECT_EQ(whole_on_every_rank, 1);
}

TEST(AdaptedBlock, AbsurdRanksAreRefused) {
  const Model plain = *build_model(llama_70b());
  for (const std::int64_t rank : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{2'000'000}}) {
    const auto refused = with_adapters(plain, {rank});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("adapters.rank " + std::to_string(rank)));
  }
}

TEST(AdaptedBlock, AdaptersOfExpertsAloneAreRefused) {
  Architecture a = llama_70b();
  a.moe = MixtureOfExperts{.num_experts = 8, .top_k = 2, .expert_ffn = 4096};
  const Model plain = *build_model(a);
  EXPECT_TRUE(with_adapters(plain, {16}));
  const auto refused = with_adapters(plain, {16, AdaptedProducts::all});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("adapters of experts are not modelled"));
}

}  // namespace
}  // namespace orrery
