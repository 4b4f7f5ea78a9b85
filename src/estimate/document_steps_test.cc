// Steps whose rows are made of documents: what they compute, count and wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/built_in_scenario.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

Scenario with_documents(Packing packing, std::vector<DocumentLength> lengths,
                        const char* plan = "zero=3,recompute=full") {
  Scenario s = scenario("llama-3.1-8b", "h100-sxm:16", plan, 8192, 64);
  s.training.documents = {.lengths = std::move(lengths), .packing = packing};
  return s;
}

Estimate estimate_of(const Scenario& s) {
  const auto step = predict(s, catalog());
  EXPECT_TRUE(step) << step.error().text();
  const auto errors = load_uncertainty(catalog());
  return estimate(*step, *errors);
}

// 6 N a token and 12 L l h for a document of l tokens: 8 of 1,024 in a row of 8,192.
TEST(DocumentSteps, AttentionCountsTheSumOfSquares) {
  const Estimate e = estimate_of(with_documents(Packing::packed, {{1024}}));
  const double matrices = 8.03e9 - 128256.0 * 4096;
  const double tokens = 64 * 8192.0;
  const double flops = tokens * (6 * matrices + 12.0 * 32 * 1024 * 4096);
  EXPECT_NEAR(e.achieved_per_gpu.value() * 16 * e.step_time.value() / flops, 1, 0.001);
  EXPECT_DOUBLE_EQ(e.tokens_per_second, tokens / e.step_time.value());
}

TEST(DocumentSteps, ARowThatIsOneDocumentIsAnOrdinaryRow) {
  const Scenario plain = scenario("llama-3.1-8b", "h100-sxm:16", "zero=3", 8192, 64);
  const Estimate without = estimate_of(plain);
  const Estimate one = estimate_of(with_documents(Packing::packed, {{8192}}, "zero=3"));
  EXPECT_EQ(one.step_time, without.step_time);
  EXPECT_DOUBLE_EQ(one.mfu, without.mfu);
}

TEST(DocumentSteps, PaddingCostsTimeAndBringsNoTokens) {
  const Estimate full = estimate_of(with_documents(Packing::packed, {{8192}}));
  const Estimate padded = estimate_of(with_documents(Packing::padded, {{2048}}));
  EXPECT_EQ(padded.step_time, full.step_time);
  EXPECT_DOUBLE_EQ(padded.tokens_per_second, full.tokens_per_second / 4);
  EXPECT_LT(padded.mfu, full.mfu / 4);  // of attention a sixteenth counts
  const Estimate packed = estimate_of(with_documents(Packing::packed, {{2048}}));
  EXPECT_LT(packed.step_time, padded.step_time);
  EXPECT_THAT(packed.assumed,
              testing::Contains(testing::HasSubstr("documents (packed): 4 in a row")));
}

// Ranks that wait in every microbatch wait longer than those that wait once a step; among ranks
// that exchange heads every one has all queries of a row.
TEST(DocumentSteps, WhoWaitsForWhom) {
  const std::vector<DocumentLength> mixed = {{256, 70}, {2048, 20}, {8192, 10}};
  const auto core = [&](const char* plan) {
    return estimate_of(with_documents(Packing::concatenated, mixed, plan))
        .breakdown[Category::attention_core];
  };
  EXPECT_GT(core("zero=3"), core("zero=1"));
  EXPECT_GT(core("zero=1,cp=4,context_parallel=all-gather"),
            core("zero=1,cp=4,context_parallel=all-gather,context_balance=striped"));
}

TEST(DocumentSteps, ModelsWithoutCausalAttentionAreRefused) {
  Scenario s = with_documents(Packing::packed, {{1024}});
  s.model = *build_model(*read_architecture(*catalog().find("models", "bert-large")));
  s.training.sequence_length = 512;
  s.training.documents.lengths = {{128}};
  const auto step = predict(s, catalog());
  ASSERT_FALSE(step);
  EXPECT_THAT(step.error().text(), testing::HasSubstr("documents need causal attention"));
}

}  // namespace
}  // namespace orrery
