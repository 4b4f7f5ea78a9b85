#include "estimate/uncertainty.h"

#include <gmock/gmock.h>

#include <cmath>

#include "lower/step_category.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFile = R"(
source: a test
level: 0.9
deviations: {step: 0.06, attention: 0.2, network: 0.3, waiting: 0.1}
low: -1.5
high: 2
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
constexpr StepShares kShares = {.attention = 0.4, .network = 0, .waiting = 0};
StepTimeInterval of(const char* name, const char* model = "llama-2-7b",
                    std::int64_t sequence = 4096, const char* software = "nemo-24",
                    Seconds step_time = Seconds(10)) {
  return interval(uncertainty(), step_time, kShares, model_named(model), cluster(name),
                  {.sequence_length = sequence}, software);
}
std::string error(std::string_view from, std::string_view to) {
  std::string text(kFile);
  text.replace(text.find(from), from.size(), to);
  return read_uncertainty(*parse_yaml(text, "test.yaml")).error().text();
}

// 0.06 of the whole and 0.08 of attention are 0.1 together; two sources measured dense steps on
// hopper, one did on ampere, none on cdna3.
TEST(Uncertainty, IsThatOfWhatAStepConsistsOfAndOfFewSources) {
  const double two = 0.1 * std::sqrt(1.5);
  EXPECT_NEAR(of("h100-sxm:512").low.value(), 10 * std::exp(-1.5 * two), 1e-9);
  EXPECT_NEAR(of("h100-sxm:512").high.value(), 10 * std::exp(2 * two), 1e-9);
  EXPECT_NEAR(of("a100-80gb-sxm:64").high.value(), 10 * std::exp(0.2 * std::sqrt(2)), 1e-9);
  EXPECT_NEAR(of("mi300x:64").high.value(), 10 * std::exp(0.2 * std::sqrt(3)), 1e-9);
  EXPECT_EQ(
      of("h100-sxm:512").basis,
      "typical errors on sources left out of calibration: 6.0 % of the whole "
      "step; 20 % of attention, which is 40 % of this step; 30 % of exposed communication other "
      "than expert exchange, which is 0 %; 10 % of waiting, which is 0 %. 2 sources measured dense "
      "steps on hopper");
}

TEST(Uncertainty, DeviationsOfPartsAddAsIndependentOnes) {
  const StepDeviations d = {.step = 0.06, .attention = 0.2, .network = 0.3, .waiting = 0.1};
  EXPECT_NEAR(deviation(d, {}, 1000), 0.06, 1e-4);
  EXPECT_NEAR(deviation(d, {.attention = 0.4, .network = 0.1, .waiting = 0.5}, 1),
              std::sqrt(2 * (0.0036 + 0.0064 + 0.0009 + 0.0025)), 1e-12);
  EXPECT_EQ(deviation(d, {}, 0), 0.06 * std::sqrt(3));
}

TEST(Uncertainty, FewerSourcesAddMoreAndNoneMost) {
  EXPECT_EQ(few_sources_factor(4), 1.25);
  EXPECT_EQ(few_sources_factor(1), 2);
  EXPECT_EQ(few_sources_factor(0), 3);
}

// What one source measured says nothing of how sources differ from it.
TEST(Uncertainty, ASourceDoesNotCountForItself) {
  const Uncertainty u = uncertainty();
  StepPoint step = u.measured.front();
  EXPECT_EQ(sources_like(u.measured, step), 1);  // "other"; it is of "one"
  step.source = "";
  EXPECT_EQ(sources_like(u.measured, step), 2);
  step.kind = kAdapters;
  EXPECT_EQ(sources_like(u.measured, step), 0);
}

TEST(Uncertainty, SharesAreThoseOfTheBreakdown) {
  Breakdown b;
  b[Category::attention_core] = Picoseconds(30);
  b[Category::feed_forward] = Picoseconds(40);
  b[Category::exposed_dp] = Picoseconds(10);
  b[Category::contention] = Picoseconds(5);
  b[Category::exposed_ep] = Picoseconds(5);
  b[Category::bubble] = Picoseconds(10);
  const StepShares shares = shares_of(b);
  EXPECT_DOUBLE_EQ(shares.attention, 0.3);
  EXPECT_DOUBLE_EQ(shares.network, 0.15);
  EXPECT_DOUBLE_EQ(shares.waiting, 0.1);
  EXPECT_EQ(shares_of(Breakdown{}), StepShares{});
}

TEST(Uncertainty, ScalesWithTheStep) {
  const auto a = of("h100-sxm:512", "llama-2-7b", 4096, "nemo-24", Seconds(1));
  const auto b = of("h100-sxm:512", "llama-2-7b", 4096, "nemo-24", Seconds(5));
  EXPECT_NEAR(b.low / a.low, 5, 1e-12);
  EXPECT_NEAR(b.high / a.high, 5, 1e-12);
}

TEST(Uncertainty, SaysHowFarTheNearestMeasurementIs) {
  const auto near = of("h100-sxm:16");
  EXPECT_FALSE(near.extrapolates);
  EXPECT_EQ(near.distance,
            "the nearest measured step is 7 B parameters at sequence 8192 on 8 h100-sxm, this has "
            "2 times as many accelerators and 2 times as short a sequence");
  EXPECT_THAT(of("h100-sxm:8", "llama-2-7b", 8192, "torchtitan").distance,
              HasSubstr("7 B parameters on 8 h100-sxm with nemo-24"));
}

TEST(Uncertainty, FarBeyondTheMeasuredScaleItSaysSo) {
  const auto inside = of("h100-sxm:512");
  const auto beyond = of("h100-sxm:25600");
  EXPECT_FALSE(inside.extrapolates);
  EXPECT_TRUE(beyond.extrapolates);
  EXPECT_THAT(beyond.distance,
              HasSubstr("extrapolates: 50 times more accelerators than the nearest dense step "
                        "measured on hopper has; the nearest measured step is"));
}

TEST(Uncertainty, AnAcceleratorWithoutStepsExtrapolates) {
  const auto other = of("mi300x:64");
  EXPECT_TRUE(other.extrapolates);
  EXPECT_THAT(other.basis, HasSubstr("No source measured dense steps on cdna3"));
  EXPECT_THAT(other.distance, HasSubstr("extrapolates: no step was measured on cdna3;"));
}

TEST(Uncertainty, OfTransformersSaysNothingOfOtherModels) {
  Model model = model_named("llama-2-7b");
  const auto asked = [&] {
    return interval(uncertainty(), Seconds(10), kShares, model, cluster("h100-sxm:16"), {}, "");
  };
  EXPECT_TRUE(asked().calibrated);
  model = *load_model("dlrm-dcnv2-mlperf", Catalog::built_in());
  EXPECT_FALSE(asked().calibrated);
  EXPECT_THAT(asked().basis, HasSubstr("not calibrated for recommendation models"));
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

TEST(Uncertainty, RefusesWhatCannotBe) {
  EXPECT_THAT(error("level: 0.9", "level: 90"), HasSubstr("above 0, below 1"));
  EXPECT_THAT(error("low: -1.5", "low: 0.3"),
              HasSubstr("the quantiles 0.3 and 2 are out of range"));
  EXPECT_THAT(error("high: 2", "high: 40"), HasSubstr("high from 0 to 20"));
  EXPECT_THAT(error("step: 0.06", "step: 0"), HasSubstr("above 0, at most 5"));
  EXPECT_THAT(error("network: 0.3", "network: -1"), HasSubstr("a deviation of -1 is out of range"));
  EXPECT_THAT(error("accelerators: 8", "accelerators: 0"), HasSubstr("all above 0"));
}

TEST(Uncertainty, IsWrittenAsItIsRead) {
  Uncertainty u = uncertainty();
  const auto text = uncertainty_file(u);
  ASSERT_TRUE(text) << text.error().text();
  const auto again = read_uncertainty(*parse_yaml(*text, "test.yaml"));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->deviations, u.deviations);
  EXPECT_EQ(again->high, u.high);
  EXPECT_EQ(again->measured, u.measured);
  u.high = 20.5;
  EXPECT_EQ(uncertainty_file(u).error().text(),
            "step/uncertainty.yaml: the quantiles -1.5 and 20.5 are out of range (low from -20 to "
            "0, high from 0 to 20)");
}

TEST(Uncertainty, OfTheCatalogIsSound) {
  const auto u = load_uncertainty(Catalog::built_in());
  ASSERT_TRUE(u) << u.error().text();
}

}  // namespace
}  // namespace orrery
