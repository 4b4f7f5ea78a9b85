// Claims of papers are read, predicted and judged by their class; strict ones hold.
#include "validate/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

Result<std::vector<JudgedClaim>> judged(const std::string& type, double published,
                                        const std::string& more = "") {
  const std::string text =
      "claims:\n  - strategy: s\n    source: x\n    headline: h\n    type: " + type +
      "\n    published: " + std::to_string(published) + "\n    band: 0.02\n" + more;
  return judged_claims(*parse_yaml(text, "claims.yaml"), Catalog::built_in());
}

const char* const kStates =
    "    figure: states_ratio\n"
    "    specification: {model: gpt-3-125m, cluster: \"a100-80gb-sxm:8\", plan: {zero: 3}}\n"
    "    than: {plan: {zero: 0}}\n";

TEST(Claims, AreJudgedByTheirClass) {
  // All states divided by eight ranks: a ratio of 8.
  const auto holds = [](const char* type, double published) {
    return judged(type, published, kStates)->front().holds;
  };
  EXPECT_NEAR(*judged("strict", 8, kStates)->front().predicted, 8, 0.01);
  EXPECT_EQ(holds("strict", 8), true);
  EXPECT_EQ(holds("strict", 8.5), false);
  EXPECT_EQ(holds("upper bound", 9), true);
  EXPECT_EQ(holds("upper bound", 7), false);
  EXPECT_EQ(holds("loose", 8.1), true);
  EXPECT_EQ(holds("loose", 5), false);
  EXPECT_EQ(holds("informational", 100), std::nullopt);
}

TEST(Claims, LooseRatiosCompareGainsAndUpperBoundsHaveABand) {
  const auto holds = [](const char* type, double published) {
    return judged(type, published, kStates)->front().holds;
  };
  // A gain of 7: 7 / 1.02 = 6.86 and 7 * 1.02 = 7.14 are the edges.
  EXPECT_EQ(holds("loose", 7.9), true);
  EXPECT_EQ(holds("loose", 7.8), false);
  EXPECT_EQ(holds("loose", 8.2), false);
  // 8 / 1.02 = 7.84.
  EXPECT_EQ(holds("upper bound", 7.9), true);
  EXPECT_EQ(holds("upper bound", 7.8), false);
}

TEST(Claims, ThatCannotBeJudgedAreRefused) {
  const auto refused = [](const char* type, double published, const std::string& more) {
    const auto claims = judged(type, published, more);
    return claims ? std::string() : claims.error().text();
  };
  EXPECT_THAT(refused("loose", 0.5, kStates),
              testing::HasSubstr("claims.yaml: s: a loose claim of a ratio compares gains, and its "
                                 "published value is not above 1"));
  EXPECT_THAT(refused("loose", 1, kStates), testing::HasSubstr("is not above 1"));
  const std::string specification =
      "    specification: {model: gpt-3-125m, cluster: \"a100-80gb-sxm:8\"}\n";
  EXPECT_THAT(
      refused("strict", 1, "    figure: mfu\n    than: {plan: {zero: 0}}\n" + specification),
      testing::HasSubstr("s: than is not used (only ratios"));
  EXPECT_THAT(refused("strict", 1, "    figure: speedup\n    than: 3\n" + specification),
              testing::HasSubstr("s: than is no map"));
  EXPECT_THAT(refused("strict", 1, "    not_predicted: unknown\n    than: {plan: {zero: 0}}\n"),
              testing::HasSubstr("s: than is not used (the claim is not predicted)"));
}

TEST(Claims, ThatAreNotPredictedSayWhy) {
  const auto claims = judged("informational", 1, "    not_predicted: unknown batch\n");
  ASSERT_TRUE(claims) << claims.error().text();
  EXPECT_EQ(claims->front().predicted, std::nullopt);
  EXPECT_EQ(claims->front().claim.not_predicted, "unknown batch");
  EXPECT_THAT(judged("strict", 0).error().text(),
              testing::HasSubstr("claims.yaml: s: has no figure with a published value above 0"));
  EXPECT_THAT(judged("strict", 1,
                     "    figure: speedup\n    specification: {model: gpt-3-125m, cluster: "
                     "\"a100-80gb-sxm:8\"}\n")
                  .error()
                  .text(),
              testing::HasSubstr("a ratio needs a baseline"));
}

TEST(Claims, StrictOnesAndBoundsOfTheRepositoryHold) {
  const auto document =
      read_document(std::string(ORRERY_SOURCE_DIR) + "/validation/strategies.yaml");
  ASSERT_TRUE(document) << document.error().text();
  const auto claims = judged_claims(*document, Catalog::built_in());
  ASSERT_TRUE(claims) << claims.error().text();
  int strict = 0;
  for (const JudgedClaim& c : *claims) {
    if (c.claim.type != ClaimType::strict && c.claim.type != ClaimType::upper_bound) continue;
    ++strict;
    EXPECT_EQ(c.holds, true) << c.claim.strategy << ": " << c.predicted.value_or(0);
  }
  EXPECT_GE(strict, 4);
}

}  // namespace
}  // namespace orrery
