#include "estimate/uncertainty.h"

#include <gmock/gmock.h>

#include <cmath>

namespace orrery {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFile = R"(
source: a test
level: 0.9
regimes:
  - {regime: {architecture: "*", scale: "*", precision: "*"}, rows: 100, low: -0.3, high: 0.4}
  - {regime: {architecture: hopper, scale: "*", precision: "*"}, rows: 50, low: -0.1, high: 0.2}
  - {regime: {architecture: hopper, scale: to 64, precision: "*"}, rows: 9, low: 0.05, high: 0.1}
measured:
  - {accelerator: h100-sxm, accelerators: 8, parameters_b: 7}
  - {accelerator: h100-sxm, accelerators: 512, parameters_b: 70}
  - {accelerator: a100-80gb-sxm, accelerators: 64, parameters_b: 13}
)";

Uncertainty uncertainty() { return *read_uncertainty(*parse_yaml(kFile, "test.yaml")); }
Cluster cluster(const char* name) { return *parse_cluster_name(name, Catalog::built_in()); }
StepTimeInterval of(const char* name, double parameters = 7e9) {
  return interval(uncertainty(), Seconds(10), cluster(name), NumberFormat::bf16, parameters);
}
std::string error(std::string_view from, std::string_view to) {
  std::string text(kFile);
  text.replace(text.find(from), from.size(), to);
  return read_uncertainty(*parse_yaml(text, "test.yaml")).error().text();
}

TEST(Uncertainty, TheNarrowestKnownRegimeServes) {
  EXPECT_NEAR(of("a100-80gb-sxm:64").low.value(), 10 * std::exp(-0.3), 1e-9);
  EXPECT_NEAR(of("h100-sxm:512").high.value(), 10 * std::exp(0.2), 1e-9);
  EXPECT_EQ(of("h100-sxm:512").regime, "hopper: 50 held-out steps");
  EXPECT_NEAR(of("h100-sxm:64").high.value(), 10 * std::exp(0.1), 1e-9);
}

TEST(Uncertainty, TheEstimateLiesInItsInterval) {
  EXPECT_EQ(of("h100-sxm:64").low, Seconds(10));  // all held-out steps were slower
}

TEST(Uncertainty, ScalesWithTheStep) {
  const Cluster c = cluster("h100-sxm:512");
  const auto a = interval(uncertainty(), Seconds(1), c, NumberFormat::bf16, 1e9);
  const auto b = interval(uncertainty(), Seconds(5), c, NumberFormat::bf16, 1e9);
  EXPECT_NEAR(b.low / a.low, 5, 1e-12);
  EXPECT_NEAR(b.high / a.high, 5, 1e-12);
}

TEST(Uncertainty, SaysHowFarTheNearestMeasurementIs) {
  EXPECT_EQ(of("h100-sxm:8").distance, "the nearest measured step is 7 B parameters on 8 h100-sxm");
  EXPECT_EQ(
      of("h100-sxm:2048", 140e9).distance,
      "the nearest measured step is 70 B parameters on 512 h100-sxm, this has 4 times as many "
      "accelerators and 2 times as many parameters");
  EXPECT_THAT(of("b200-sxm:64", 13e9).distance, HasSubstr("64 a100-80gb-sxm"));
}

TEST(Uncertainty, ClassesOfScaleAndPrecision) {
  const auto regime = [](const char* name, NumberFormat f) { return regime_of(cluster(name), f); };
  EXPECT_EQ(regime("h100-sxm:8", NumberFormat::bf16), (Regime{"hopper", "one node", "16 bit"}));
  EXPECT_EQ(regime("h100-sxm:64", NumberFormat::fp8), (Regime{"hopper", "to 64", "narrow"}));
  EXPECT_EQ(regime("h100-sxm:512", NumberFormat::fp16), (Regime{"hopper", "to 512", "16 bit"}));
  EXPECT_EQ(regime("b200-sxm:1024", NumberFormat::nvfp4),
            (Regime{"blackwell", "above 512", "narrow"}));
}

TEST(Uncertainty, RefusesWhatCannotBe) {
  EXPECT_THAT(error("low: -0.1", "low: 0.3"), HasSubstr("low is above high in hopper"));
  EXPECT_THAT(error("level: 0.9", "level: 90"), HasSubstr("above 0, below 1"));
  EXPECT_THAT(error("high: 0.4", "high: 40"), HasSubstr("out of range in all accelerators"));
  EXPECT_THAT(error("architecture: \"*\"", "architecture: volta"),
              HasSubstr("there is no regime of all steps"));
  EXPECT_THAT(error("accelerators: 8", "accelerators: 0"), HasSubstr("both above 0"));
}

TEST(Uncertainty, OfTheCatalogIsSound) {
  const auto u = load_uncertainty(Catalog::built_in());
  ASSERT_TRUE(u) << u.error().text();
}

}  // namespace
}  // namespace orrery
