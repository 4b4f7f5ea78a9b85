#include "numerics/tensor_format.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace orrery {
namespace {

using testing::Each;
using testing::ElementsAreArray;

std::vector<float> stored(std::vector<float> values, const char* format) {
  store(values, *parse_tensor_format(format));
  return values;
}

std::vector<float> normal_values(std::size_t n, double scale) {
  const RandomDraws draws(11, 0);
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(scale * draws.normal(0, i));
  return out;
}

// The largest element of a block lies in the highest binade of the element format, so that the
// scale is 2^(floor(log2 max) - emax): MX 1.0, section 6.3.
TEST(TensorFormat, ScalesBlocksOf32ByAPowerOfTwo) {
  std::vector<float> x(64, 0.0F);
  x[0] = 7.0F;  // scale 2^(2 - 2) = 1 with fp4
  x[1] = 2.4F;
  x[32] = 0.03F;  // floor(log2) = -6, scale 2^-8
  x[33] = 0.018F;
  const std::vector<float> y = stored(x, "mxfp4");
  EXPECT_EQ(y[0], 6.0F);  // saturated: 7 is beyond 6
  EXPECT_EQ(y[1], 2.0F);
  EXPECT_EQ(y[32], 6.0F / 256);
  EXPECT_EQ(y[33], 4.0F / 256);
  EXPECT_EQ(stored({448.0F, 500.0F}, "mxfp8-e4m3")[1], 448.0F);
  EXPECT_EQ(stored({1.0F, 1.0F / 64, 1.0F / 129}, "mxint8"),
            (std::vector<float>{1.0F, 1.0F / 64, 0.0F}));
}

// The corners that the tests of microxcaling check: scales at both ends of e8m0.
TEST(TensorFormat, KeepsTinyAndHugeBlocks) {
  EXPECT_EQ(stored({0x1p127F, 0x1p126F}, "mxfp4"), (std::vector<float>{0x1p127F, 0x1p126F}));
  EXPECT_EQ(stored({0x1p-126F}, "mxfp8-e4m3")[0], 0x1p-126F);
  EXPECT_EQ(stored({0.0F, -0.0F}, "mxfp6-e2m3"), (std::vector<float>{0.0F, 0.0F}));
}

TEST(TensorFormat, LosesABlockThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> x(64, 1.0F);
    x[5] = bad;
    const std::vector<float> y = stored(x, "mxfp8-e4m3");
    EXPECT_THAT(std::vector<float>(y.begin(), y.begin() + 32), Each(testing::IsNan()));
    EXPECT_THAT(std::vector<float>(y.begin() + 32, y.end()), Each(1.0F));
    EXPECT_THAT(stored({bad, 1.0F}, "int8"), Each(testing::IsNan()));
  }
}

// t = 6 * 448 / (6 * 448) = 1 here, so that scales are e4m3 numbers themselves.
TEST(TensorFormat, ScalesNvfp4InTwoLevels) {
  std::vector<float> x(32, 0.0F);
  x[0] = 2688.0F;  // the tensor's largest: block scale 448
  x[1] = 448.0F * 2.4F;
  x[16] = 6 * 1.06F;  // block scale e4m3(1.06) = 1.0
  x[17] = 1.4F;
  const std::vector<float> y = stored(x, "nvfp4");
  EXPECT_EQ(y[0], 2688.0F);
  EXPECT_EQ(y[1], 896.0F);
  EXPECT_EQ(y[16], 6.0F);
  EXPECT_EQ(y[17], 1.5F);
}

// A scaled tensor is stored as well whatever its unit is; without scales it is not.
TEST(TensorFormat, ScaledFormatsDoNotDependOnTheUnit) {
  const std::vector<float> x = normal_values(256, 1);
  std::vector<float> small = x;
  for (float& v : small) v *= 0x1p-20F;
  for (const char* name : {"mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e3m2", "mxfp6-e2m3", "mxfp4",
                           "mxint8", "nvfp4", "int8", "fp8-e4m3/128", "fp8-e4m3/tensor"}) {
    std::vector<float> expected = stored(x, name);
    for (float& v : expected) v *= 0x1p-20F;
    EXPECT_THAT(stored(small, name), ElementsAreArray(expected)) << name;
  }
  EXPECT_NE(stored(small, "fp8-e4m3")[0], stored(x, "fp8-e4m3")[0] * 0x1p-20F);
}

// |x - stored(x)| <= half a step of the element format, of the scale: more bits lose less.
TEST(TensorFormat, ErrorsAreWithinHalfAStep) {
  const std::vector<float> x = normal_values(4096, 0.02);
  for (const TensorFormat& f : tensor_formats()) {
    if (f.scale == ScaleRule::codes || f.scale == ScaleRule::none) continue;
    const std::vector<float> y = stored(x, f.name.c_str());
    const std::size_t block = f.block > 0 ? f.block : x.size();
    for (std::size_t i = 0; i < x.size(); ++i) {
      float most = 0;
      for (std::size_t j = i / block * block; j < (i / block + 1) * block; ++j) {
        most = std::max(most, std::abs(x[j]));
      }
      // The largest of a block may saturate: below 2^(emax + 1) - largest of 2^emax.
      const double relative = f.element.exponent_bits == 0 ? 1.0 / 64 : f.element.epsilon();
      ASSERT_LE(std::abs(x[i] - y[i]), most * relative * 1.01) << f.name << " " << i;
    }
  }
}

TEST(TensorFormat, CountsItsBits) {
  EXPECT_EQ(parse_tensor_format("mxfp8-e4m3")->bits_an_element(), 8.25);
  EXPECT_EQ(parse_tensor_format("mxfp4")->bits_an_element(), 4.25);
  EXPECT_EQ(parse_tensor_format("nvfp4")->bits_an_element(), 4.5);
  EXPECT_EQ(parse_tensor_format("fp8-e4m3/128")->bits_an_element(), 8.25);
  EXPECT_EQ(parse_tensor_format("bf16")->bits_an_element(), 16);
}

// arXiv 2110.02861, section 1.3: 0 and 1, and for each power of ten twice as many equal parts.
TEST(TensorFormat, HasTheCodesOfDynamicTrees) {
  const std::span<const float> codes = dynamic_codes(true);
  EXPECT_TRUE(std::ranges::is_sorted(codes));
  EXPECT_EQ(codes.back(), 1.0F);
  EXPECT_EQ(std::ranges::count(codes, 0.0F), 1);
  // As create_dynamic_map of bitsandbytes gives them.
  EXPECT_FLOAT_EQ(codes[254], 0.9929687F);
  EXPECT_FLOAT_EQ(codes[0], -0.9929687F);
  EXPECT_FLOAT_EQ(codes[128], 5.5e-7F);
  EXPECT_FLOAT_EQ(dynamic_codes(false)[1], 3.25e-7F);
  EXPECT_FLOAT_EQ(dynamic_codes(false)[254], 0.99648438F);
  for (const bool is_signed : {true, false}) {
    const std::span<const float> all = dynamic_codes(is_signed);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(nearest_code(all[i], all), i);
    EXPECT_EQ(nearest_code(2.0F, all), 255);
    EXPECT_EQ(nearest_code(-2.0F, all), 0);
  }
}

TEST(TensorFormat, IsRefusedInWords) {
  EXPECT_EQ(parse_tensor_format("mxfp9").error().text(),
            "unknown number format 'mxfp9' (did you mean 'mxfp4'?)");
  EXPECT_EQ(parse_tensor_format("int8/0").error().text(),
            "'0' is not a number of elements that share a scale (write int8/128 or /tensor)");
  EXPECT_EQ(parse_tensor_format("int8/x").error().text(),
            "'x' is not a number of elements that share a scale (write int8/128 or /tensor)");
  for (const std::string name : {"fp64", "fp32", "tf32", "bf16", "e8m4", "e11m16"}) {
    for (const std::string scale : {"/tensor", "/128"}) {
      EXPECT_THAT(parse_tensor_format(name + scale).error().text(),
                  testing::AllOf(testing::StartsWith("numbers of " + name + " have "),
                                 testing::HasSubstr("exponent bits and need no scale")));
    }
  }
  EXPECT_EQ(parse_tensor_format("bf16/128").error().text(),
            "numbers of bf16 have 8 exponent bits and need no scale (write bf16; scales are for "
            "formats of at most 7 exponent bits)");
  EXPECT_TRUE(parse_tensor_format("fp16/128").has_value());
}

}  // namespace
}  // namespace orrery
