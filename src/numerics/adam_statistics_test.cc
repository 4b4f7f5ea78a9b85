#include "numerics/adam_statistics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "document/value.h"
#include "numerics/tensor_file.h"

namespace orrery {
namespace {

const AdamFigures& row(const AdamStudy& study, const std::string& layer, const std::string& at) {
  for (const AdamRow& r : study.rows) {
    if (r.layer == layer && r.at == at) return r.figures;
  }
  ADD_FAILURE() << layer << " " << at;
  return study.rows.front().figures;
}

// The values of arXiv 2304.09871 as they were reproduced for this project.
TEST(AdamStatistics, FollowThePublishedLimits) {
  const AdamStudy study = simulated_adam({0.9, 0.95, 0}, 1, 2);
  const auto norm = [&](const char* rho) {
    return row(study, "lag-one correlation", rho).update_norm;
  };
  EXPECT_NEAR(norm("0"), 0.229, 0.005);
  EXPECT_NEAR(norm("0.5"), 0.355, 0.01);
  EXPECT_NEAR(norm("0.9"), 0.619, 0.015);
  EXPECT_NEAR(norm("0.99"), 0.839, 0.015);
  EXPECT_NEAR(norm("0.999"), 0.939, 0.015);
  EXPECT_NEAR(row(study, "lag-one correlation", "0").bimodality, 0.373, 0.015);
  EXPECT_NEAR(row(study, "lag-one correlation", "0.99").bimodality, 0.766, 0.015);
  EXPECT_NEAR(row(study, "lag-one correlation", "0.9").autocorrelation[0], 0.9, 0.02);
  // Of independent gradients beside eps.
  EXPECT_NEAR(row(study, "spread over eps", "100").update_norm, 0.225, 0.005);
  EXPECT_NEAR(row(study, "spread over eps", "1").update_norm, 0.114, 0.005);
  EXPECT_NEAR(row(study, "spread over eps", "0.1").update_norm, 0.021, 0.002);
  EXPECT_NEAR(row(study, "spread over eps", "3").eps_dominated, 0, 0.001);
  EXPECT_NEAR(row(study, "spread over eps", "1").eps_dominated, 0.54, 0.02);
  EXPECT_NEAR(row(study, "spread over eps", "0.3").eps_dominated, 1, 0.001);
}

TEST(AdamStatistics, BurstsReachTheirLimit) {
  const AdamBurst low = burst({0.9, 0.95, 0}, 1000, 1);
  EXPECT_NEAR(low.first, 0.447, 0.01);
  EXPECT_NEAR(low.peak, 1.10, 0.02);
  EXPECT_NEAR(low.peak_step, 20, 1);
  EXPECT_NEAR(burst({0.9, 0.95, 0}, 10, 1).peak, 1.05, 0.02);
  const AdamBurst high = burst({0.9, 0.999, 0}, 1000, 1);
  EXPECT_NEAR(high.first, 3.16, 0.08);  // the limit, from below
  EXPECT_LT(high.first, 3.16);
  EXPECT_NEAR(high.peak, 6.5, 0.1);
  EXPECT_NEAR(high.peak_step, 12, 1);
  EXPECT_NEAR(burst({0.9, 0.999, 0}, 10, 1).peak, 4.3, 0.2);
}

TEST(AdamStatistics, OfAConstantGradientAreOne) {
  AdamLayer layer(3, {0.9, 0.95, 0});
  const std::vector<float> gradient = {2, -3, 4};
  for (int t = 0; t < 20; ++t) layer.step(gradient);
  const AdamFigures f = layer.figures();
  EXPECT_DOUBLE_EQ(f.update_norm, 1);
  EXPECT_EQ(f.near_one, 1);
  for (const double c : f.autocorrelation) EXPECT_NEAR(c, 1, 1e-12);
  EXPECT_NEAR(f.cosine, 9 / std::sqrt(3 * 29.0), 1e-12);
}

TEST(AdamStatistics, WarnOfALayerInALog) {
  // The second layer is quiet, then loud in one direction that the gradient leaves again.
  constexpr std::size_t kSteps = 60;
  constexpr std::size_t kComponents = 20000;
  std::vector<WrittenTensor> log = {{"calm", {kSteps, kComponents}, {}},
                                    {"bad", {kSteps, kComponents}, {}}};
  const RandomDraws draws(1, 0);
  for (std::size_t i = 0; i < kSteps * kComponents; ++i) {
    const std::size_t step = i / kComponents;
    const auto noise = static_cast<float>(draws.normal(0, i));
    log[0].values.push_back(noise);
    const auto direction = static_cast<float>(draws.normal(2, i % kComponents));
    const auto other = static_cast<float>(draws.normal(4, i % kComponents));
    log[1].values.push_back(step < 40 ? noise : step < 46 ? 1000 * direction : other);
  }
  log[1].values[5] = std::nanf("");
  const std::string file = testing::TempDir() + "gradients.safetensors";
  ASSERT_TRUE(write_file(file, safetensors_text(log)).has_value());
  const auto study = logged_adam(file, {0.9, 0.999, 0});
  ASSERT_TRUE(study.has_value()) << study.error().text();
  ASSERT_FALSE(study->remarks.empty());
  EXPECT_THAT(study->remarks.front(), testing::StartsWith("bad, step 4"));
  EXPECT_EQ(study->remarks.back(), "bad: 1 gradients are infinite or NaN, taken as 0");
  for (const std::string& remark : study->remarks) {
    EXPECT_THAT(remark, testing::Not(testing::HasSubstr("calm")));
  }
  log[0].shape = {kSteps * kComponents};
  ASSERT_TRUE(write_file(file, safetensors_text(log)).has_value());
  EXPECT_THAT(logged_adam(file, {}).error().text(),
              testing::EndsWith("tensor 'calm': has the shape [1200000] (a log of gradients has a "
                                "tensor [steps, components] for each layer)"));
}

}  // namespace
}  // namespace orrery
