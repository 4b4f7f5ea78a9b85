#include "estimate/uncertainty.h"

#include <gmock/gmock.h>

#include <cmath>

#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFile = R"(
source: a test
level: 0.9
regimes:
  - {regime: {architecture: "*", scale: "*", precision: "*", kind: "*"}, rows: 100, low: -0.3, high: 0.4}
  - {regime: {architecture: hopper, scale: "*", precision: "*", kind: dense}, rows: 50, low: -0.1,
     high: 0.2}
  - {regime: {architecture: hopper, scale: to 64, precision: "*", kind: dense}, rows: 9, low: 0.05,
     high: 0.1}
between_sources: {sources: 14, deviation: 0.14, half_width: 0.24}
measured:
  - {accelerator: h100-sxm, architecture: hopper, accelerators: 8, parameters_b: 7,
     kind: dense, sequence: 8192, software: nemo-24, source: one}
  - {accelerator: h100-sxm, architecture: hopper, accelerators: 24, parameters_b: 13,
     kind: dense, sequence: 8192, software: nemo-24, source: other}
  - {accelerator: h100-sxm, architecture: hopper, accelerators: 64, parameters_b: 7,
     kind: dense, sequence: 4096, software: nemo-24, source: one}
  - {accelerator: h100-sxm, architecture: hopper, accelerators: 512, parameters_b: 70,
     kind: dense, sequence: 4096, software: nemo-24, source: one}
  - {accelerator: h100-sxm, architecture: hopper, accelerators: 480, parameters_b: 70,
     kind: dense, sequence: 4096, software: nemo-24, source: other}
  - {accelerator: h100-sxm, architecture: hopper, accelerators: 256, parameters_b: 671,
     kind: mixture of experts, sequence: 4096, software: nemo-24, source: one}
  - {accelerator: h100-sxm, architecture: hopper, accelerators: 320, parameters_b: 671,
     kind: mixture of experts, sequence: 4096, software: nemo-24, source: other}
  - {accelerator: a100-80gb-sxm, architecture: ampere, accelerators: 64, parameters_b: 7,
     kind: dense, sequence: 4096, software: nemo-24, source: one}
)";

Uncertainty uncertainty() { return *read_uncertainty(*parse_yaml(kFile, "test.yaml")); }
Cluster cluster(const char* name) { return *parse_cluster_name(name, Catalog::built_in()); }
Model model_named(const char* name) {
  return *build_model(*read_architecture(*Catalog::built_in().find("models", name)));
}
StepTimeInterval of(const char* name, const char* model = "llama-2-7b",
                    std::int64_t sequence = 4096, const char* software = "nemo-24") {
  return interval(uncertainty(), Seconds(10), model_named(model), cluster(name),
                  {.sequence_length = sequence}, software);
}
std::string error(std::string_view from, std::string_view to) {
  std::string text(kFile);
  text.replace(text.find(from), from.size(), to);
  return read_uncertainty(*parse_yaml(text, "test.yaml")).error().text();
}

TEST(Uncertainty, TheNarrowestKnownRegimeServes) {
  EXPECT_NEAR(of("a100-80gb-sxm:64").low.value(), 10 * std::exp(-std::hypot(0.3, 0.24)), 1e-9);
  EXPECT_NEAR(of("h100-sxm:512").high.value(), 10 * std::exp(std::hypot(0.2, 0.24)), 1e-9);
  EXPECT_EQ(of("h100-sxm:512").regime,
            "hopper, dense: 50 held-out steps, widened by 27 % for the spread between 14 sources");
  EXPECT_NEAR(of("h100-sxm:64").high.value(), 10 * std::exp(std::hypot(0.1, 0.24)), 1e-9);
}

TEST(Uncertainty, TheEstimateLiesInItsInterval) {
  // All held-out steps of this regime were slower; other sources may be faster.
  EXPECT_NEAR(of("h100-sxm:64").low.value(), 10 * std::exp(-0.24), 1e-9);
}

TEST(Uncertainty, ScalesWithTheStep) {
  const Cluster c = cluster("h100-sxm:512");
  const Model model = model_named("llama-2-7b");
  const auto a =
      interval(uncertainty(), Seconds(1), model, c, {.sequence_length = 4096}, "nemo-24");
  const auto b =
      interval(uncertainty(), Seconds(5), model, c, {.sequence_length = 4096}, "nemo-24");
  EXPECT_NEAR(b.low / a.low, 5, 1e-12);
  EXPECT_NEAR(b.high / a.high, 5, 1e-12);
}

TEST(Uncertainty, SaysHowFarTheNearestMeasurementIs) {
  const auto near = of("h100-sxm:16");
  EXPECT_FALSE(near.extrapolates);
  EXPECT_EQ(near.distance,
            "the nearest measured step is 7 B parameters at sequence 8192 on 8 h100-sxm, this has "
            "2 times as many accelerators and 2 times as short a sequence");
}

// Whoever asks is a source of their own, measured steps near or not.
TEST(Uncertainty, FarBeyondTheMeasuredScaleItSaysSo) {
  const auto inside = of("h100-sxm:512");
  const auto beyond = of("h100-sxm:25600");
  EXPECT_FALSE(inside.extrapolates);
  EXPECT_TRUE(beyond.extrapolates);
  EXPECT_NEAR(beyond.low.value(), 10 * std::exp(-0.26), 1e-9);  // 0.1 and 0.24
  EXPECT_LE(beyond.low, inside.low);
  EXPECT_GE(beyond.high, inside.high);
  EXPECT_THAT(beyond.distance,
              HasSubstr("extrapolates: 50 times more accelerators than the nearest dense step "
                        "measured on hopper has; the nearest measured step is"));
}

TEST(Uncertainty, AnAcceleratorWithoutStepsIsWidened) {
  const auto other = of("mi300x:64");
  EXPECT_TRUE(other.extrapolates);
  EXPECT_NEAR(other.low.value(), 10 * std::exp(-std::hypot(0.3, 0.24)), 1e-9);
  EXPECT_NEAR(other.high.value(), 10 * std::exp(std::hypot(0.4, 0.24)), 1e-9);
  EXPECT_THAT(other.distance, HasSubstr("extrapolates: no step was measured on cdna3;"));
}

// What one source measured is its own as much as the system's.
TEST(Uncertainty, ASystemThatOneSourceAloneMeasuredExtrapolates) {
  const auto alone = of("a100-80gb-sxm:128");
  EXPECT_TRUE(alone.extrapolates);
  EXPECT_THAT(alone.distance, HasSubstr("extrapolates: one source alone measured dense steps of "
                                        "nemo-24 on about as many a100-80gb-sxm; the nearest"));
  // Of the very model, sequence and accelerators that were measured, only the plan may differ.
  EXPECT_FALSE(of("a100-80gb-sxm:64").extrapolates);
  EXPECT_TRUE(of("a100-80gb-sxm:64", "llama-2-7b", 8192).extrapolates);
  EXPECT_TRUE(of("a100-80gb-sxm:64", "llama-2-13b").extrapolates);
}

// Steps of one framework say little of another's, those of one accelerator little of its sibling.
TEST(Uncertainty, SoftwareThatWasNotMeasuredThereExtrapolates) {
  const auto other = of("h100-sxm:64", "llama-2-7b", 4096, "torchtitan");
  EXPECT_TRUE(other.extrapolates);
  EXPECT_THAT(other.distance,
              HasSubstr("no dense step of torchtitan was measured on about as many h100-sxm"));
  EXPECT_THAT(of("h200-sxm:64").distance,
              HasSubstr("no dense step was measured on about as many h200-sxm"));
}

TEST(Uncertainty, AMixtureOfExpertsIsHeldAgainstMixtures) {
  EXPECT_FALSE(of("h100-sxm:128", "mixtral-8x7b").extrapolates);
  EXPECT_THAT(of("h100-sxm:128", "mixtral-8x7b").distance, HasSubstr("671 B parameters on 256"));
  EXPECT_TRUE(of("h100-sxm:64", "mixtral-8x7b").extrapolates);  // 4 times fewer
  const auto none = of("a100-80gb-sxm:64", "mixtral-8x7b");
  EXPECT_THAT(none.distance, HasSubstr("no mixture-of-experts step was measured on ampere"));
}

TEST(Uncertainty, ASequenceFarFromThoseMeasuredOnSuchAScaleExtrapolates) {
  EXPECT_FALSE(of("h100-sxm:512", "llama-2-7b", 16383).extrapolates);
  EXPECT_THAT(of("h100-sxm:512", "llama-2-7b", 131072).distance,
              HasSubstr("32 times as long a sequence as any dense step measured on about as many "
                        "hopper accelerators"));
  EXPECT_THAT(of("h100-sxm:512", "llama-2-7b", 512).distance,
              HasSubstr("8 times as short a sequence"));
  EXPECT_THAT(of("h100-sxm:512", "llama-2-7b", 1).distance,
              HasSubstr("4,096 times as short a sequence"));
}

TEST(Uncertainty, ClassesOfScaleAndPrecision) {
  const auto regime = [](const char* name, NumberFormat f) {
    return regime_of(cluster(name), f, kDense);
  };
  EXPECT_EQ(regime("h100-sxm:8", NumberFormat::bf16),
            (Regime{"hopper", "one node", "16 bit", "dense"}));
  EXPECT_EQ(regime("h100-sxm:64", NumberFormat::fp8),
            (Regime{"hopper", "to 64", "narrow", "dense"}));
  EXPECT_EQ(regime("h100-sxm:512", NumberFormat::fp16),
            (Regime{"hopper", "to 512", "16 bit", "dense"}));
  EXPECT_EQ(regime("b200-sxm:1024", NumberFormat::nvfp4),
            (Regime{"blackwell", "above 512", "narrow", "dense"}));
  EXPECT_EQ(regime_of(cluster("h100-sxm:8"), NumberFormat::bf16, kMixture).kind,
            "mixture of experts");
  EXPECT_EQ(widening(regime("h100-sxm:8", NumberFormat::bf16)).size(), 5u);
  EXPECT_EQ(widening(Regime{}).size(), 1u);
}

TEST(Uncertainty, RefusesWhatCannotBe) {
  EXPECT_THAT(error("low: -0.1", "low: 0.3"), HasSubstr("low is above high in hopper"));
  EXPECT_THAT(error("level: 0.9", "level: 90"), HasSubstr("above 0, below 1"));
  EXPECT_THAT(error("high: 0.4", "high: 40"), HasSubstr("out of range in all accelerators"));
  EXPECT_THAT(error("architecture: \"*\"", "architecture: volta"),
              HasSubstr("there is no regime of all steps"));
  EXPECT_THAT(error("half_width: 0.24", "half_width: -1"), HasSubstr("half_width is out of range"));
  EXPECT_THAT(error("accelerators: 8", "accelerators: 0"), HasSubstr("all above 0"));
}

TEST(Uncertainty, OfTheCatalogIsSound) {
  const auto u = load_uncertainty(Catalog::built_in());
  ASSERT_TRUE(u) << u.error().text();
}

}  // namespace
}  // namespace orrery
