#include "infer/model_sizes.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

// Hidden 4096, four times as wide inside, 32 heads of 128, tp 8, 2048 tokens, micro-batch 4.
ModelSizes sizes() {
  InferredSpec spec;
  spec.architecture.hidden = 4096;
  spec.architecture.ffn_hidden = 16384;
  spec.architecture.num_heads = 32;
  spec.architecture.num_kv_heads = 32;
  spec.architecture.head_dim = 128;
  spec.architecture.vocab = 50304;
  spec.training.sequence_length = 2048;
  spec.plan.micro_batch = 4;
  spec.plan.tp = 8;
  return model_sizes(spec);
}

TEST(ModelSizes, AreOfActivationsWholeAndDivided) {
  for (const char* shapes : {
           "[[8192, 4096], [4096, 1536]]",        // queries, keys and values of a rank
           "[[2048, 4, 4096], [4096], [4096]]",   // a norm
           "[[256, 4, 4096], [4096]]",            // the same under sequence parallelism
           "[[1024, 4096]]",                      // and flattened
           "[[32, 2048, 2048]]",                  // a softmax of scores
           "[[16, 2048, 128], [16, 128, 2048]]",  // scores
           "[[2048, 8192], [8192, 4096]]",        // gradients of a weight
           "[[], []]",                            // nothing with a shape
           "",
       }) {
    EXPECT_TRUE(is_of_model(sizes(), shapes)) << shapes;
  }
}

TEST(ModelSizes, AreNotOfAnotherModelOfTheSameLength) {
  EXPECT_FALSE(is_of_model(sizes(), "[[2048, 2432], [2432, 7296]]"));
  EXPECT_FALSE(is_of_model(sizes(), "[[333, 4096], [4096, 4096]]"));
  EXPECT_FALSE(is_of_model(sizes(), "[[1, 77, 2048]]"));
}

TEST(ModelSizes, TokensAreEnoughForWorkWithoutWidth) {
  EXPECT_TRUE(has_tokens(sizes(), "[[4, 2048, 1], []]"));
  EXPECT_TRUE(has_tokens(sizes(), "[[256, 4, 64]]"));
  EXPECT_TRUE(has_tokens(sizes(), "[[]]"));
  EXPECT_FALSE(has_tokens(sizes(), "[[4096, 4096]]"));
}

TEST(ModelSizes, OneDimensionIsNotTokensAndWidth) {
  InferredSpec spec;
  spec.architecture.hidden = 2048;
  spec.training.sequence_length = 2048;
  EXPECT_FALSE(is_of_model(model_sizes(spec), "[[2048, 999]]"));
  EXPECT_TRUE(is_of_model(model_sizes(spec), "[[2048, 2048]]"));
}

}  // namespace
}  // namespace orrery
