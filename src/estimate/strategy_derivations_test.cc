// What --explain says of strategies that a plan states.
#include "estimate/strategy_derivations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/assumptions.h"
#include "estimate/built_in_scenario.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

// The derivation of that figure; empty if there is none.
Derivation derived(const Scenario& s, std::string_view figure) {
  const auto step = predict(s, catalog());
  if (!step) {
    ADD_FAILURE() << step.error().text();
    return {};
  }
  const std::vector<Derivation> all = strategy_derivations(*step);
  const auto found = std::ranges::find(all, figure, &Derivation::figure);
  return found != all.end() ? *found : Derivation{};
}

TEST(StrategyDerivations, OfSharesByMemoryNameThoseOfEachSite) {
  const Derivation d = derived(scenario("llama-3-8b", "h100-sxm:8+a100-40gb-sxm:8@metro-pair",
                                        "zero=3,recompute=full,state_division=by-memory", 2048, 32),
                               "state_shares");
  EXPECT_THAT(d.formula, HasSubstr("c - a - s b = h"));
  EXPECT_EQ(std::ranges::count(d.inputs, ';'), 1) << d.inputs;
  EXPECT_THAT(d.value, HasSubstr("times the mean"));
  EXPECT_THAT(d.source, HasSubstr("2411.01075"));
  EXPECT_EQ(derived(scenario("llama-3-8b", "h100-sxm:8+a100-40gb-sxm:8@metro-pair",
                             "zero=3,recompute=full", 2048, 32),
                    "state_shares")
                .figure,
            "");
}

TEST(StrategyDerivations, OfMicrobatchesOfSitesAddUpToTheBatch) {
  const Derivation d = derived(scenario("llama-3-8b", "h100-sxm:8+a100-40gb-sxm:8@metro-pair",
                                        "zero=3,recompute=full,site_micro_batch=3+1", 2048, 64),
                               "microbatches_of_sites");
  EXPECT_EQ(d.inputs, "h100-sxm:8: r 8, b 3, m 2; a100-40gb-sxm:8: r 8, b 1, m 2");
  EXPECT_EQ(d.value, "64 sequences");
}

// Rows of documents and of experts are those of the microbatches that the slowest site has.
TEST(StrategyDerivations, OfSitesThatStateEqualMicrobatchesAreThoseOfTheEvenPlan) {
  const auto of = [](const std::string& sizes) {
    Scenario s = scenario("mixtral-8x7b", "h100-sxm:16+a100-80gb-sxm:16@metro-pair",
                          "tp=2,ep=8,recompute=full,zero=1," + sizes, 2048, 256);
    s.training.expert_load.power_law = 0.5;
    s.training.expert_load.capacity_factor = 1.2;
    s.training.documents.lengths = {{512, 3}, {2048, 1}};
    return s;
  };
  const Scenario even = of("micro_batch=4");
  const Scenario stated = of("site_micro_batch=4+4");
  for (const char* figure : {"document_pairs", "document_wait", "expert_imbalance"}) {
    const Derivation a = derived(even, figure);
    const Derivation b = derived(stated, figure);
    EXPECT_NE(a.value, "") << figure;
    EXPECT_EQ(a.inputs, b.inputs) << figure;
    EXPECT_EQ(a.value, b.value) << figure;
  }
  const auto a = predict(even, catalog());
  const auto b = predict(stated, catalog());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(model_flops_of_a_sequence(*a, AttentionCount::full),
            model_flops_of_a_sequence(*b, AttentionCount::full));
}

TEST(StrategyDerivations, OfGradientsInPlaceShowThatTheyNeedNoMemory) {
  Scenario s = scenario("llama-3-8b", "h100-sxm:16", "zero=1,recompute=full,gradients_in_place=on",
                        4096, 16);
  s.training.gradients = NumberFormat::bf16;
  EXPECT_THAT(derived(s, "gradients_in_place").value, HasSubstr("0 B of gradients beside "));
}

// Where the software keeps fp32 weights alone, they have memory of their own: that is said.
TEST(StrategyDerivations, OfGradientsInPlaceOfTheirMasterSayThatNothingIsSaved) {
  Scenario s = scenario("llama-3-8b", "h100-sxm:16", "zero=3,gradients_in_place=on", 4096, 16);
  s.training.gradients = NumberFormat::bf16;
  const auto notes = [&](const char* software) {
    s.software = *load_software(catalog(), software);
    const auto step = predict(s, catalog());
    const std::vector<std::string> all = assumptions(*step);
    return std::ranges::count_if(all, [](const std::string& note) {
      return note.starts_with("gradients_in_place saves no memory");
    });
  };
  EXPECT_EQ(notes("pytorch-fsdp"), 1);
  EXPECT_EQ(notes("deepspeed"), 0);
}

TEST(StrategyDerivations, OfScatteredProductsCountPasses) {
  const Derivation d = derived(
      scenario("mixtral-8x7b", "h100-sxm:64", "zero=3,ep=1,expert_products=scattered", 4096, 64),
      "expert_products");
  EXPECT_EQ(d.inputs, "scattered, k 2");
  EXPECT_EQ(d.value, "0 forward, 3 backward");
}

// The first layer of DeepSeek's models is dense and hides nothing.
TEST(StrategyDerivations, OfAShortcutAreOfALayerWithExperts) {
  Scenario s = scenario("deepseek-v2-lite", "h100-sxm:8", "ep=8", 4096, 64);
  Architecture a = *read_architecture(*catalog().find("models", "deepseek-v2-lite"));
  a.residual = Residual::shortcut;
  s.model = *build_model(a);
  const Derivation d = derived(s, "hidden_communication");
  EXPECT_EQ(d.inputs, "residual shortcut");
  EXPECT_THAT(d.formula, HasSubstr("attention and the shared expert"));
}

}  // namespace
}  // namespace orrery
