// Which dimensions an estimate names as priced as if they were padded.
#include "lower/unaligned_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

KernelParameters parameters_of(const char* accelerator) {
  return *load_kernel_parameters(Catalog::built_in(),
                                 *load_accelerator(Catalog::built_in(), accelerator));
}

std::string unaligned(const Architecture& a, int tp = 1, NumberFormat format = NumberFormat::bf16,
                      const char* accelerator = "a100-80gb-sxm") {
  Binding b;
  b.micro_batch = 3;  // an odd number of rows is no misalignment: rows begin where others end
  b.sequence_length = 1001;
  b.tp = tp;
  return unaligned_products(*build_model(a), b, format, parameters_of(accelerator));
}

Architecture architecture(const char* name) {
  return *read_architecture(*Catalog::built_in().find("models", name));
}

TEST(UnalignedProducts, NameTheVocabularyOfGpt2) {
  Architecture gpt = architecture("gpt-3-125m");
  ASSERT_EQ(gpt.vocab, 50257);
  EXPECT_EQ(unaligned(gpt),
            "rows that tensor cores do not load whole are priced as if padded: vocabulary 50257 to "
            "50264, a multiple of 8; where nothing pads them they are slower, by how much depends "
            "on the library (docs/models/kernels.md)");
  gpt.vocab = 50304;  // nanoGPT's
  EXPECT_EQ(unaligned(gpt), "");
  EXPECT_EQ(unaligned(gpt, 4), "");
  gpt.vocab = 50264;  // aligned whole, not in four parts
  EXPECT_THAT(unaligned(gpt, 4),
              HasSubstr(": vocabulary 50264 on 4 ranks to 50272, a multiple of 32 (8 elements of "
                        "bf16 a load); where"));
}

TEST(UnalignedProducts, NameAWidthOnceForAllItsProducts) {
  Architecture llama = architecture("llama-3-8b");
  llama.ffn_hidden = 14340;  // a multiple of 4
  EXPECT_THAT(unaligned(llama),
              HasSubstr(": feed-forward width 14340 to 14344, a multiple of 8; where"));
  llama.ffn_hidden = 14336 + 8;  // of 8, not of 16
  EXPECT_EQ(unaligned(llama), "");
  EXPECT_THAT(unaligned(llama, 1, NumberFormat::fp8, "h100-sxm"),
              HasSubstr("14344 to 14352, a multiple of 16; where"));
  EXPECT_THAT(unaligned(llama, 1, NumberFormat::mxfp8, "gb200"),
              HasSubstr("14344 to 14368, a multiple of 32; where"));
}

TEST(UnalignedProducts, NameEveryDimension) {
  Architecture a = architecture("llama-3-8b");
  a.hidden = 4095;
  a.num_heads = a.num_kv_heads = 45;
  a.head_dim = 91;
  EXPECT_THAT(unaligned(a), AllOf(HasSubstr("width of attention.qkv 12285 to 12288"),
                                  HasSubstr("; hidden width 4095 to 4096, a multiple of 8"),
                                  Not(HasSubstr("vocabulary"))));
}

TEST(UnalignedProducts, NameTheWidthOfExpertsOnceForGateUpAndDown) {
  Architecture a = architecture("deepseek-v2-lite");
  a.moe->expert_ffn = 1404;
  a.moe->shared_ffn = 2804;
  const std::string text = unaligned(a);
  EXPECT_THAT(text, HasSubstr("width of an expert 1404 to 1408, a multiple of 8"));
  EXPECT_THAT(text, HasSubstr("width of the shared expert 2804 to 2808, a multiple of 8"));
  EXPECT_THAT(text, Not(HasSubstr("2808, a multiple of 8; width of an expert")));
  EXPECT_EQ(text.find("width of an expert"), text.rfind("width of an expert"));
  EXPECT_EQ(text.find("shared expert"), text.rfind("shared expert"));
  EXPECT_THAT(text, Not(HasSubstr("feed-forward width")));
}

// The logits stay in 16 bits under narrow recipes, so that 8 elements are a load there.
TEST(UnalignedProducts, CountALoadInTheFormatOfEachProduct) {
  Architecture llama = architecture("llama-3-8b");
  llama.vocab = 128256 + 8;
  EXPECT_EQ(unaligned(llama, 1, NumberFormat::fp8, "h100-sxm"), "");
  llama.vocab = 128256 + 4;
  EXPECT_THAT(unaligned(llama, 1, NumberFormat::fp8, "h100-sxm"),
              HasSubstr("a multiple of 8 (8 elements of bf16 a load)"));
}

TEST(UnalignedProducts, AreThoseOfTensorCoresOnly) {
  const Architecture gpt = architecture("gpt-3-125m");
  EXPECT_EQ(unaligned(gpt, 1, NumberFormat::fp32), "");
  EXPECT_THAT(unaligned(gpt, 1, NumberFormat::tf32), HasSubstr("50260, a multiple of 4;"));
  EXPECT_EQ(unaligned(gpt, 1, NumberFormat::bf16, "mi300x"), "");
  EXPECT_NE(unaligned(gpt, 1, NumberFormat::bf16, "h100-sxm"), "");
}

}  // namespace
}  // namespace orrery
