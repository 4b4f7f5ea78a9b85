#include "analyze/recorded_attention.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

RecordedArgument tensor(Shape shape) { return {{std::move(shape)}, "c10::BFloat16", ""}; }
RecordedArgument value(std::string text) { return {{}, "Scalar", std::move(text)}; }

TEST(RecordedAttention, ReadsHeadsBeforeTheSequence) {
  const std::vector<RecordedArgument> arguments = {tensor({2, 32, 4096, 128}),
                                                   tensor({2, 8, 4096, 128}),
                                                   tensor({2, 8, 4096, 128}),
                                                   value(""),
                                                   value("0."),
                                                   value("True")};
  const auto found = recorded_attention("aten::scaled_dot_product_attention", arguments);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->direction, Direction::forward);
  EXPECT_EQ(found->shape.batch, 2);
  EXPECT_EQ(found->shape.heads, 32);
  EXPECT_EQ(found->shape.kv_heads, 8);
  EXPECT_EQ(found->shape.queries, 4096);
  EXPECT_EQ(found->shape.query_key_dim, 128);
  EXPECT_TRUE(found->shape.causal);
  EXPECT_TRUE(found->causal_recorded);
}

TEST(RecordedAttention, ReadsTheSequenceBeforeHeadsAndTheBackward) {
  // flash_attn_interface.py: dout, q, k, v, out, softmax_lse, dq, dk, dv, dropout_p,
  // softmax_scale, causal.
  std::vector<RecordedArgument> arguments(6, tensor({1, 1024, 16, 64}));
  arguments[2] = arguments[3] = tensor({1, 2048, 4, 64});
  arguments.insert(arguments.end(), 3, tensor({1, 1024, 16, 64}));
  arguments.insert(arguments.end(), {value("0."), value("0.125"), value("False")});
  const auto found = recorded_attention("flash_attn::_flash_attn_backward", arguments);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->direction, Direction::backward);
  EXPECT_EQ(found->shape.queries, 1024);
  EXPECT_EQ(found->shape.keys, 2048);
  EXPECT_EQ(found->shape.heads, 16);
  EXPECT_EQ(found->shape.kv_heads, 4);
  EXPECT_FALSE(found->shape.causal);
}

TEST(RecordedAttention, RefusesWhatIsNoAttentionOrHasNoShapes) {
  EXPECT_FALSE(recorded_attention("aten::mm", {}));
  EXPECT_FALSE(recorded_attention("aten::scaled_dot_product_attention", {}));
  const std::vector<RecordedArgument> flat(3, tensor({4096, 128}));
  EXPECT_FALSE(recorded_attention("aten::scaled_dot_product_attention", flat));
  const std::vector<RecordedArgument> empty(3, tensor({1, 0, 16, 64}));
  EXPECT_FALSE(recorded_attention("FlashAttnFunc", empty));
}

TEST(RecordedAttention, KnowsKernelsByName) {
  EXPECT_EQ(recorded_attention_kernel("void pytorch_flash::flash_fwd_kernel<...>"),
            AttentionKernel::flash_2);
  EXPECT_EQ(recorded_attention_kernel("flash::enable_sm90<flash::FlashAttnFwdSm90<...>>"),
            AttentionKernel::flash_3);
  EXPECT_EQ(recorded_attention_kernel("fmha_cutlassF_bf16_aligned_64x128_rf_sm80"),
            AttentionKernel::flash_1);
  EXPECT_EQ(recorded_attention_kernel("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma"),
            AttentionKernel::library);
  EXPECT_EQ(recorded_attention_kernel("attn_fwd.kd"), AttentionKernel::flash_2);
}

}  // namespace
}  // namespace orrery
