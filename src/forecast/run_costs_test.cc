#include "forecast/run_costs.h"

#include <gmock/gmock.h>

#include <cmath>

#include "estimate/estimate.h"

namespace orrery {
namespace {

using testing::HasSubstr;

Estimate eight_second_step() {
  Estimate out;
  out.gpus = 16'384;
  out.step_time = Seconds(8);
  out.training.global_batch = 2048;
  out.training.sequence_length = 8192;
  return out;
}

Cluster h100() {
  Cluster out;
  out.accelerators = eight_second_step().gpus;
  out.accelerator.name = "h100-sxm";
  out.accelerator.power = Watts(700);
  return out;
}

RunQuestion asked(const std::string& tokens, const std::string& price = "2 $/h") {
  RunQuestion out;
  out.tokens = tokens;
  out.price = price;
  return out;
}

HealthyRun run(const RunQuestion& question) {
  return healthy_run(eight_second_step(), h100(), question, Catalog::built_in()).value();
}

TEST(HealthyRun, IsItsStepsOneAfterTheOther) {
  const HealthyRun one = run(asked("15T"));
  EXPECT_EQ(one.steps, std::ceil(15e12 / (2048 * 8192)));
  EXPECT_DOUBLE_EQ(one.wall.value(), 8.0 * static_cast<double>(one.steps));
  EXPECT_DOUBLE_EQ(one.gpu_hours(one.wall), 16'384 * one.wall.value() / 3600);
  EXPECT_NEAR(one.cost(one.wall).value(), 2 * one.gpu_hours(one.wall), 1e-3);
  // 700 W an accelerator; a PUE of 1.2 is a fifth more.
  EXPECT_NEAR(one.energy(one.wall).value(), 700 * 3600 * one.gpu_hours(one.wall), 1e3);
  RunQuestion site = asked("15T");
  site.pue = 1.2;
  EXPECT_NEAR(run(site).energy(one.wall) / one.energy(one.wall), 1.2, 1e-12);
  site.carbon = 400;
  EXPECT_NEAR(run(site).carbon_kg(one.wall), run(site).energy(one.wall).value() / 3.6e6 * 0.4, 1);
}

TEST(HealthyRun, NeedsAtLeastOneStepAndNoPartOfOne) {
  EXPECT_EQ(run(asked("1")).steps, 1);
  RunQuestion steps = asked("");
  steps.steps = 7;
  EXPECT_EQ(run(steps).steps, 7);
  EXPECT_FALSE(run(steps).tokens);
}

TEST(HealthyRun, TakesTheMedianPriceOfTheCatalog) {
  const HealthyRun one = run(asked("1T", ""));
  ASSERT_TRUE(one.price);
  EXPECT_TRUE(Catalog::built_in().contains("prices", one.price_name));
  Cluster unknown = h100();
  unknown.accelerator.name = "no-such-accelerator";
  unknown.accelerator.power = std::nullopt;
  const auto without =
      healthy_run(eight_second_step(), unknown, asked("1T", ""), Catalog::built_in());
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->price);
  EXPECT_FALSE(without->power);
}

// Two thirds of the accelerators are A100 of 400 W, one third H100 of 700 W.
TEST(HealthyRun, OfSitesThatDifferHasTheirMeanPriceAndPower) {
  const Catalog& catalog = Catalog::built_in();
  const auto priced = [&](const std::string& cluster) {
    return *healthy_run(eight_second_step(), *parse_cluster(cluster, catalog), asked("1T", ""),
                        catalog);
  };
  const HealthyRun both = priced("h100-sxm:256+a100-80gb-sxm:512@metro-pair");
  const HealthyRun h100s = priced("h100-sxm:256");
  const HealthyRun a100s = priced("a100-80gb-sxm:512");
  EXPECT_EQ(both.accelerators, 768);
  EXPECT_NEAR(both.cost(both.wall) / (h100s.cost(both.wall) + a100s.cost(both.wall)), 1, 1e-12);
  EXPECT_NEAR(both.energy(both.wall) / (h100s.energy(both.wall) + a100s.energy(both.wall)), 1,
              1e-12);
  EXPECT_EQ(both.price_name, h100s.price_name + " and " + a100s.price_name);
  EXPECT_EQ(priced("h100-sxm:8+a100-80gb-sxm:8+h100-sxm:8@metro-pair").price_name, both.price_name);
}

TEST(HealthyRun, RefusesInWords) {
  const auto refusal = [](const RunQuestion& question) {
    const auto answer = healthy_run(eight_second_step(), h100(), question, Catalog::built_in());
    return answer ? "" : answer.error().text();
  };
  EXPECT_THAT(refusal(asked("")), HasSubstr("the length of the run is not given"));
  EXPECT_THAT(refusal(asked("many")), HasSubstr("many"));
  EXPECT_THAT(refusal(asked("1T", "0 $/h")), HasSubstr("not above 0"));
  EXPECT_THAT(refusal(asked("1T", "2000000 $/h")), HasSubstr("above 1,000,000 $/h"));
  EXPECT_THAT(refusal(asked("1T", "nobody")), HasSubstr("nobody"));
  EXPECT_EQ(refusal(asked("1T", "hyperscaler-a100-low")),
            "forecast.price: 'hyperscaler-a100-low' is a price of a100-80gb-sxm, not of h100-sxm "
            "(leave it out to take each accelerator's own, or write --price 2.95$/h)");
  RunQuestion loss = asked("");
  loss.loss = 2;
  EXPECT_THAT(refusal(loss), HasSubstr("is a matter of the whole run"));
  RunQuestion phases = asked("1T");
  phases.phases.resize(2);
  phases.phases.front().share = 0.5;
  EXPECT_THAT(refusal(phases), HasSubstr("phases of a run differ"));
}

}  // namespace
}  // namespace orrery
