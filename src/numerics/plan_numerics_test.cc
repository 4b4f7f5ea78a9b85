#include "numerics/plan_numerics.h"

#include <gmock/gmock.h>

#include <string>

#include "catalog/catalog.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"

namespace orrery {
namespace {

PlanNumerics numerics_of(const std::string& precision, NumberFormat gradients) {
  const Catalog& catalog = Catalog::built_in();
  Scenario scenario;
  scenario.model = *load_model("llama-3.1-8b", catalog);
  scenario.cluster = *parse_cluster("h100-sxm:64", catalog);
  scenario.training.precision = *parse_enum<NumberFormat>(precision);
  scenario.training.gradients = gradients;
  scenario.plan = *parse_plan("tp=2");
  const auto step = predict(scenario, catalog);
  EXPECT_TRUE(step.has_value()) << step.error().text();
  const auto out = plan_numerics(*step, catalog, 2);
  EXPECT_TRUE(out.has_value()) << out.error().text();
  return *out;
}

const FormatChoice& choice(const PlanNumerics& numerics, NumberFormat format) {
  for (const FormatChoice& f : numerics.formats) {
    if (f.format == format) return f;
  }
  ADD_FAILURE();
  return numerics.formats.front();
}

TEST(PlanNumerics, NamesWhatAPlanChanges) {
  EXPECT_TRUE(numerics_of("bf16", NumberFormat::fp32).changes.empty());
  const PlanNumerics both = numerics_of("fp8", NumberFormat::bf16);
  ASSERT_EQ(both.changes.size(), 2);
  EXPECT_EQ(both.changes[0].what, "products of operands in fp8");
  EXPECT_EQ(both.changes[0].deviation_class, DeviationClass::above_bf16);
  EXPECT_EQ(both.changes[1].what, "gradients reduced in bf16 over 32 ranks, not in fp32");
}

// fp8 saves time and deviates more; fp16 takes as long as bf16 and deviates less; a format on the
// front deviates less than all faster ones.
TEST(PlanNumerics, WeighsTimeAgainstDeviation) {
  const PlanNumerics n = numerics_of("bf16", NumberFormat::fp32);
  const FormatChoice& bf16 = choice(n, NumberFormat::bf16);
  const FormatChoice& fp8 = choice(n, NumberFormat::fp8);
  const FormatChoice& fp16 = choice(n, NumberFormat::fp16);
  EXPECT_TRUE(bf16.chosen);
  EXPECT_EQ(bf16.times_bf16, 1);
  EXPECT_EQ(bf16.saved, 0);
  EXPECT_GT(fp8.saved, 0.1);
  EXPECT_GT(fp8.times_bf16, 5);
  EXPECT_LT(fp16.times_bf16, 0.5);
  EXPECT_EQ(fp16.deviation_class, DeviationClass::below_bf16);
  EXPECT_TRUE(n.formats.front().on_front);
  double least = 1;
  for (const FormatChoice& f : n.formats) {
    EXPECT_EQ(f.on_front, f.deviation < least);
    least = std::min(least, f.deviation);
  }
}

TEST(PlanNumerics, HasFourClasses) {
  EXPECT_EQ(class_of(0.1), DeviationClass::below_bf16);
  EXPECT_EQ(class_of(1), DeviationClass::like_bf16);
  EXPECT_EQ(class_of(20), DeviationClass::above_bf16);
  EXPECT_EQ(class_of(60), DeviationClass::far_above_bf16);
}

}  // namespace
}  // namespace orrery
