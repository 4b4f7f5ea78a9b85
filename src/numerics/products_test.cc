#include "numerics/products.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

namespace orrery {
namespace {

double relative_rms(const DeviationStudy& study, const std::string& variant,
                    const std::string& at = "") {
  for (const MeasuredDeviation& row : study.rows) {
    if (row.variant == variant && row.at == at) return row.deviation.relative_rms;
  }
  ADD_FAILURE() << variant << " " << at;
  return 0;
}
double expected(const DeviationStudy& study, const std::string& variant, const std::string& at) {
  for (const MeasuredDeviation& row : study.rows) {
    if (row.variant == variant && row.at == at) return row.expected.value_or(0);
  }
  return 0;
}

TEST(Products, AccumulationErrorGrowsWithTheRootOfK) {
  ProductQuestion q;
  q.rows = q.columns = 24;
  q.format = *parse_tensor_format("bf16");
  q.accumulation.format = ieee_format(8, 10);
  const auto study = product_study(q, "k=256,1Ki,4Ki", 2);
  ASSERT_TRUE(study.has_value());
  double last = 0;
  for (const char* k : {"256", "1Ki", "4Ki"}) {
    const double now = relative_rms(*study, "accumulation", k);
    EXPECT_GT(now, last);
    EXPECT_NEAR(now, expected(*study, "accumulation", k), 0.15 * now) << k;
    last = now;
  }
  EXPECT_NEAR(relative_rms(*study, "operands", "1Ki"), expected(*study, "operands", "1Ki"),
              0.1 * expected(*study, "operands", "1Ki"));
}

TEST(Products, AccumulationErrorHalvesWithEachBit) {
  ProductQuestion q;
  q.rows = q.columns = 24;
  q.inner = 1024;
  q.format = *parse_tensor_format("fp8-e4m3/128");
  const auto study = product_study(q, "accumulator=e8m8,e8m9,e8m10,e8m13,fp32", 2);
  ASSERT_TRUE(study.has_value());
  const double eight = relative_rms(*study, "accumulation", "e8m8");
  EXPECT_NEAR(eight / relative_rms(*study, "accumulation", "e8m9"), 2, 0.2);
  EXPECT_NEAR(eight / relative_rms(*study, "accumulation", "e8m10"), 4, 0.4);
  EXPECT_NEAR(eight / relative_rms(*study, "accumulation", "e8m13"), 32, 3.2);
  EXPECT_LT(relative_rms(*study, "accumulation", "fp32"), 1e-6);
  // The operands do not depend on the accumulator.
  EXPECT_EQ(relative_rms(*study, "operands", "e8m8"), relative_rms(*study, "operands", "fp32"));
}

// Adding groups at once, and moving to an fp32 total early, leave fewer narrow additions.
TEST(Products, GroupsAndPromotionHelp) {
  ProductQuestion q;
  q.rows = q.columns = 24;
  q.accumulation.format = ieee_format(8, 10);
  q.format = *parse_tensor_format("bf16");
  const auto groups = product_study(q, "group=1,16,64", 2);
  const auto promoted = product_study(q, "promote=0,1Ki,128", 2);
  ASSERT_TRUE(groups && promoted);
  EXPECT_NEAR(
      relative_rms(*groups, "accumulation", "1") / relative_rms(*groups, "accumulation", "16"), 4,
      0.8);
  EXPECT_LT(relative_rms(*promoted, "accumulation", "128"),
            relative_rms(*promoted, "accumulation", "1Ki"));
  EXPECT_LT(relative_rms(*promoted, "accumulation", "1Ki"),
            relative_rms(*promoted, "accumulation", "0"));
}

// Channels that are larger than the rest spoil one scale for the tensor, less so scales of blocks.
TEST(Products, BlocksContainOutliers) {
  ProductQuestion q;
  q.rows = q.columns = 24;
  q.inner = 1024;
  q.distribution = Distribution::outliers;
  const auto study = product_study(q, "format=int8,int8/32,mxfp8-e4m3,mxfp4,nvfp4", 2);
  ASSERT_TRUE(study.has_value());
  EXPECT_LT(relative_rms(*study, "operands", "int8/32"), relative_rms(*study, "operands", "int8"));
  EXPECT_LT(relative_rms(*study, "operands", "nvfp4"), relative_rms(*study, "operands", "mxfp4"));
  EXPECT_LT(relative_rms(*study, "operands", "mxfp8-e4m3"),
            relative_rms(*study, "operands", "nvfp4"));
}

TEST(Products, ReductionsOrderAsTheorySays) {
  ReductionQuestion q;
  q.elements = 4096;
  q.format = *parse_tensor_format("bf16");
  const auto study = reduction_study(q, "ranks=4,16,64", 2);
  ASSERT_TRUE(study.has_value());
  for (const char* ranks : {"4", "16", "64"}) {
    const double ring = relative_rms(*study, "ring", ranks);
    const double tree = relative_rms(*study, "tree", ranks);
    const double two = relative_rms(*study, "two-steps", ranks);
    EXPECT_GE(ring, 0.99 * tree) << ranks;
    EXPECT_GT(tree, two) << ranks;
    for (const char* order : {"ring", "tree", "two-steps"}) {
      EXPECT_NEAR(relative_rms(*study, order, ranks), expected(*study, order, ranks),
                  0.15 * expected(*study, order, ranks))
          << order << " " << ranks;
    }
  }
}

TEST(Products, StochasticReductionsHaveTwiceTheVariance) {
  ReductionQuestion q;
  q.elements = 4096;
  q.format = *parse_tensor_format("bf16");
  const auto nearest = reduction_study(q, "", 1);
  q.rounding = Rounding::stochastic;
  const auto stochastic = reduction_study(q, "", 2);
  ASSERT_TRUE(nearest && stochastic);
  EXPECT_NEAR(relative_rms(*stochastic, "ring") / relative_rms(*nearest, "ring"), std::sqrt(2.0),
              0.15);
  q.rounding = Rounding::stochastic;
  EXPECT_EQ(relative_rms(*reduction_study(q, "", 1), "tree"), relative_rms(*stochastic, "tree"));
}

TEST(Products, ErrorBoundedCodesKeepTheirBound) {
  const std::vector<float> x = drawn_tensor(Distribution::outliers, 64, 128, 3, 0);
  double largest = 0;
  for (const float v : x) largest = std::max<double>(largest, std::abs(v));
  const std::vector<double> bounds = {1e-4, 1e-3, 1e-2};
  const DeviationStudy study = storage_study(x, {}, bounds);
  ASSERT_EQ(study.rows.size(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LE(study.rows[i].deviation.largest, bounds[i] * largest * (1 + 1e-12));
    EXPECT_GT(study.rows[i].deviation.largest, 0.9 * bounds[i] * largest);
    if (i == 0) continue;
    EXPECT_LT(*study.rows[i].bits_an_element, *study.rows[i - 1].bits_an_element);
  }
  // Constant rows take no bits; repeated values take fewer than all different ones.
  const DeviationStudy constant = storage_study(std::vector<float>(100, 3.0F), {}, bounds);
  EXPECT_EQ(*constant.rows[0].bits_an_element, 0);
}

TEST(Products, StoragePrefersMoreBits) {
  const std::vector<float> x = drawn_tensor(Distribution::normal, 1, 8192, 3, 0);
  std::vector<TensorFormat> formats;
  for (const char* name : {"bf16", "mxint8", "mxfp8-e4m3", "nvfp4", "mxfp4"}) {
    formats.push_back(*parse_tensor_format(name));
  }
  const DeviationStudy study = storage_study(x, formats, {});
  for (std::size_t i = 1; i < study.rows.size(); ++i) {
    EXPECT_GT(study.rows[i].deviation.relative_rms, study.rows[i - 1].deviation.relative_rms)
        << study.rows[i].variant;
  }
  EXPECT_NEAR(study.rows[0].deviation.relative_rms, *study.rows[0].expected,
              0.05 * *study.rows[0].expected);
}

// After one update from zero, each code is the nearest one: none is more than one off.
TEST(Products, EightBitStatesStayNearTheirReference) {
  const DeviationStudy study = *optimizer_state_study(4096, 1, 3);
  ASSERT_EQ(study.rows.size(), 2);
  EXPECT_EQ(study.remarks.front(),
            "codes at most one from that of the fp32 moment: first moment after step 1: 100.0 %; "
            "second moment after step 1: 100.0 %");
  EXPECT_LT(study.rows[0].deviation.relative_rms, 0.02);
  // Errors of later steps stay bounded: they decay as the moments do.
  const DeviationStudy later = *optimizer_state_study(2048, 40, 3);
  EXPECT_LT(later.rows[later.rows.size() - 2].deviation.relative_rms, 0.05);
}

TEST(Products, MoreMemoryThanAWorkstationHasIsRefused) {
  ProductQuestion q;
  q.rows = 4096;
  q.columns = 1;
  q.inner = 1U << 24U;
  q.seeds = 1;
  q.format = *parse_tensor_format("bf16");
  EXPECT_EQ(product_study(q, "", 1).error().text(),
            "the tensors would take 275 GB at once, more than 8.6 GB (choose smaller sizes)");
  ReductionQuestion r;
  r.ranks = 2;
  r.elements = 1U << 28U;
  r.format = q.format;
  EXPECT_THAT(reduction_study(r, "", 1).error().text(), testing::StartsWith("the tensors would"));
  EXPECT_EQ(optimizer_state_study(1U << 28U, 1, 1).error().text(),
            "the tensors would take 11.8 GB at once, more than 8.6 GB (choose smaller sizes)");
}

TEST(Products, WorkWithoutEndIsRefused) {
  ProductQuestion q;
  q.rows = q.columns = 4096;
  q.inner = 1U << 16U;
  q.format = *parse_tensor_format("bf16");
  EXPECT_EQ(product_study(q, "", 1).error().text(),
            "1e+13 additions are more than 1e+12 (choose smaller sizes or fewer seeds)");
  ReductionQuestion r;
  r.elements = 1U << 28U;
  r.format = q.format;
  EXPECT_EQ(reduction_study(r, "", 1).error().text(),
            "2e+10 contributions are more than 1e9 (choose fewer ranks or elements)");
  EXPECT_EQ(optimizer_state_study(1U << 20U, 100'000, 1).error().text(),
            "5e+12 additions are more than 1e+12 (choose smaller sizes or fewer seeds)");
}

}  // namespace
}  // namespace orrery
