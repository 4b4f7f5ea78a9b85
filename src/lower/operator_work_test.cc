// What the kernels of an operator read and write under a profile.
#include "lower/operator_work.h"

#include <gtest/gtest.h>

#include "lower/random_plan.h"

namespace orrery {
namespace {

double passes(const Model& model, std::string_view name, const SoftwareProfile& software,
              bool dropout = false) {
  for (const Operator& op : model.blocks.back().operators) {
    if (op.name == name) {
      return operator_work(op, Phase::forward, software, dropout).passes +
             operator_work(op, Phase::input_gradient, software, dropout).passes;
    }
  }
  return 0;
}

SoftwareProfile eager() {
  SoftwareProfile s;
  s.norm = s.activation = s.rotary = s.residual = s.cross_entropy = Kernels::eager;
  return s;
}

// float 3, square 4, mean 2, scale 4, cast 3, weight 2: 18 forward, and as listed 34 backward.
TEST(OperatorWork, EagerChainsMoveWhatTheirOperatorsDo) {
  const Model llama = small_model("llama-3-8b", 2);
  EXPECT_DOUBLE_EQ(passes(llama, "attention.norm", {}), 5);
  EXPECT_DOUBLE_EQ(passes(llama, "attention.norm", eager()), 18 + 46);
  EXPECT_DOUBLE_EQ(passes(llama, "feed_forward.activation", {}), 8);
  EXPECT_DOUBLE_EQ(passes(llama, "feed_forward.activation", eager()), 5 + 13);
  EXPECT_DOUBLE_EQ(passes(llama, "attention.rotary", {}), 4);
  EXPECT_DOUBLE_EQ(passes(llama, "attention.rotary", eager()), 19);
}

TEST(OperatorWork, ALayerNormIsOneKernelInAnySoftware) {
  const Model gpt = small_model("gpt-3-1.3b", 2);
  EXPECT_DOUBLE_EQ(passes(gpt, "attention.norm", {}), 7);
  EXPECT_DOUBLE_EQ(passes(gpt, "attention.norm", eager()), 7);
}

TEST(OperatorWork, EagerConvolutionsAddBiasesAndCopyAroundGroupNorms) {
  const Model unet = *read_model(*Catalog::built_in().find("generation", "stable-diffusion-1.x"));
  const auto of = [&](std::string_view name, const SoftwareProfile& software) {
    double all = 0;
    for (const Block& block : unet.blocks) {
      for (const Operator& op : block.operators) {
        if (op.name != name) continue;
        all = operator_work(op, Phase::forward, software, false).passes;
      }
    }
    return all;
  };
  SoftwareProfile copies;
  copies.convolution = Kernels::eager;
  EXPECT_DOUBLE_EQ(of("residual.norm", {}), 3);
  EXPECT_DOUBLE_EQ(of("convolution.bias", {}), 0);
  EXPECT_DOUBLE_EQ(of("residual.norm", copies), 3 + 4);
  EXPECT_DOUBLE_EQ(of("convolution.bias", copies), 2);
  copies.host.launches = LaunchPath::compiled;
  EXPECT_DOUBLE_EQ(of("residual.norm", copies), 3);
  EXPECT_DOUBLE_EQ(of("convolution.bias", copies), 0);
}

TEST(OperatorWork, DropoutCostsAMaskAndMoreWhereItIsApart) {
  const Model gpt = small_model("gpt-3-1.3b", 2);
  const double without = passes(gpt, "attention.residual", {});
  EXPECT_DOUBLE_EQ(passes(gpt, "attention.residual", {}, true), without + 3);
  EXPECT_DOUBLE_EQ(passes(gpt, "attention.residual", eager(), true), without + 5);
}

TEST(OperatorWork, CompilingFusesEveryChain) {
  const Model llama = small_model("llama-3-8b", 2);
  SoftwareProfile compiled = eager();
  compiled.host.launches = LaunchPath::compiled;
  for (const char* name : {"attention.norm", "attention.rotary", "feed_forward.activation"}) {
    EXPECT_DOUBLE_EQ(passes(llama, name, compiled), passes(llama, name, {})) << name;
  }
}

}  // namespace
}  // namespace orrery
