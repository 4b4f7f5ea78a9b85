#include "lower/recomputed_work.h"

#include <gtest/gtest.h>

#include "model/architecture.h"
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
  const std::vector<double> shares =
      recomputed_shares(block, Recompute::alternate, block.operators.size());
  ASSERT_EQ(shares.size(), block.operators.size());
  double again = 0;
  double all = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Operator& op = block.operators[i];
    if (op.kind == OperatorKind::attention) {
      EXPECT_EQ(shares[i], 0);
    } else if (op.kind == OperatorKind::elementwise) {
      EXPECT_EQ(shares[i], 1) << op.name;
    } else if (op.kind == OperatorKind::gemm) {
      all += op.n.factor * op.k.factor;
      again += shares[i] * op.n.factor * op.k.factor;
    }
    if (op.name == "attention.qkv") {
      EXPECT_DOUBLE_EQ(shares[i], 1024.0 / 6144);
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
    EXPECT_EQ(recomputed_shares(block, Recompute::none, count)[i], 0);
    EXPECT_EQ(recomputed_shares(block, Recompute::selective, count)[i],
              block.operators[i].in_attention_core ? 1 : 0);
    EXPECT_EQ(recomputed_shares(block, Recompute::full, count - 1)[i], i + 1 < count ? 1 : 0);
  }
}

}  // namespace
}  // namespace orrery
