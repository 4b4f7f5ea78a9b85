#include "numerics/float_format.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "numerics/rounder.h"

namespace orrery {
namespace {

using testing::Eq;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNone = std::numeric_limits<double>::quiet_NaN();

const std::vector<FloatFormat> kNarrow = {kFp8E4m3, kFp8E5m2, kFp6E3m2, kFp6E2m3,
                                          kFp4E2m1, kInt8,    kFp16,    kBf16};

std::uint16_t code_of(float x, const FloatFormat& format) {
  std::uint16_t code = 0;
  encode({&x, 1}, format, {&code, 1});
  return code;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// OFP8 1.0, table 2, and MX 1.0, tables 2 to 5: the numbers they list, by their bits.
TEST(FloatFormat, HasTheNumbersOfTheSpecifications) {
  struct Listed {
    FloatFormat format;
    std::uint32_t code;
    double number;
  };
  const std::vector<Listed> listed = {
      {kFp8E5m2, 0b0'11111'00, kInf},
      {kFp8E5m2, 0b1'11111'00, -kInf},
      {kFp8E5m2, 0b0'11111'01, kNone},
      {kFp8E5m2, 0b0'11111'10, kNone},
      {kFp8E5m2, 0b0'11111'11, kNone},
      {kFp8E5m2, 0b0'00000'00, 0},
      {kFp8E5m2, 0b1'00000'00, -0.0},
      {kFp8E5m2, 0b0'11110'11, 57344},
      {kFp8E5m2, 0b0'00001'00, std::ldexp(1, -14)},
      {kFp8E5m2, 0b0'00000'11, 0.75 * std::ldexp(1, -14)},
      {kFp8E5m2, 0b0'00000'01, std::ldexp(1, -16)},
      {kFp8E4m3, 0b0'1111'111, kNone},
      {kFp8E4m3, 0b1'1111'111, kNone},
      {kFp8E4m3, 0b1'0000'000, -0.0},
      {kFp8E4m3, 0b0'1111'110, 448},
      {kFp8E4m3, 0b1'1111'110, -448},
      {kFp8E4m3, 0b0'0001'000, std::ldexp(1, -6)},
      {kFp8E4m3, 0b0'0000'111, 0.875 * std::ldexp(1, -6)},
      {kFp8E4m3, 0b0'0000'001, std::ldexp(1, -9)},
      {kFp6E3m2, 0b0'111'11, 28},
      {kFp6E3m2, 0b0'001'00, 0.25},
      {kFp6E3m2, 0b0'000'11, 0.1875},
      {kFp6E3m2, 0b0'000'01, 0.0625},
      {kFp6E2m3, 0b0'11'111, 7.5},
      {kFp6E2m3, 0b0'01'000, 1},
      {kFp6E2m3, 0b0'00'111, 0.875},
      {kFp6E2m3, 0b0'00'001, 0.125},
      {kFp4E2m1, 0b0'11'1, 6},
      {kFp4E2m1, 0b0'01'0, 1},
      {kFp4E2m1, 0b0'00'1, 0.5},
      {kFp16, 0x7bff, 65504},
      {kFp16, 0x0001, std::ldexp(1, -24)},
      {kBf16, 0x3f80, 1},
      {kBf16, 0x7f7f, 3.3895313892515355e38},
      {kInt8, 127, 127},
      {kInt8Fraction, 127, 127.0 / 64},
  };
  for (const Listed& l : listed) {
    EXPECT_TRUE(same(decoded(l.code, l.format), l.number))
        << to_text(l.format) << " " << l.code << " is " << decoded(l.code, l.format);
  }
  // All sixteen codes of fp4.
  const std::vector<double> fp4 = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint32_t code = 0; code < 16; ++code) {
    EXPECT_TRUE(same(decoded(code, kFp4E2m1), code < 8 ? fp4[code] : -fp4[code - 8]));
  }
  EXPECT_EQ(kFp8E4m3.largest(), 448);
  EXPECT_EQ(kFp8E5m2.largest(), 57344);
  EXPECT_EQ(kFp6E3m2.largest(), 28);
  EXPECT_EQ(kFp6E2m3.largest(), 7.5);
  EXPECT_EQ(kFp4E2m1.largest(), 6);
  EXPECT_EQ(kFp16.smallest_normal(), std::ldexp(1, -14));
}

// Every code of every format: the number it stands for has that code, and of two neighbours the one
// that is nearer is taken, or the even one from their middle.
TEST(FloatFormat, RoundsToTheNearestEvenCode) {
  for (const FloatFormat& format : kNarrow) {
    const std::uint32_t codes = 1U << (format.bits() - 1);
    double last = 0;
    std::uint32_t numbers = 0;
    for (std::uint32_t code = 0; code < codes; ++code) {
      const double x = decoded(code, format);
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(decoded(code_of(std::nanf(""), format), format)));
        continue;
      }
      if (std::isinf(x)) {
        const bool saturates = format.overflow == Overflow::saturate;
        EXPECT_EQ(rounded(x, format), saturates ? format.largest() : x);
        continue;
      }
      ++numbers;
      ASSERT_EQ(code_of(static_cast<float>(x), format), code) << to_text(format);
      ASSERT_EQ(code_of(static_cast<float>(-x), format), code | codes) << to_text(format);
      ASSERT_TRUE(same(rounded(x, format), x));
      ASSERT_TRUE(same(rounded(static_cast<float>(-x), format), -x));
      if (code > 0) {
        ASSERT_GT(x, last);
        const double middle = (last + x) / 2;
        const double even = code % 2 == 0 ? x : last;
        const double below = std::nextafter(middle, 0);
        const double above = std::nextafter(middle, kInf);
        ASSERT_EQ(rounded(middle, format), even) << to_text(format) << " " << middle;
        ASSERT_EQ(rounded(below, format), last) << to_text(format) << " " << middle;
        ASSERT_EQ(rounded(above, format), x) << to_text(format) << " " << middle;
        if (static_cast<double>(static_cast<float>(middle)) == middle) {
          const auto narrow = static_cast<float>(middle);
          ASSERT_EQ(rounded(narrow, format), even) << to_text(format) << " " << middle;
          ASSERT_EQ(rounded(std::nextafter(narrow, std::numeric_limits<float>::infinity()), format),
                    x)
              << to_text(format);
          ASSERT_EQ(rounded(std::nextafter(narrow, 0.0F), format), last) << to_text(format);
        }
      }
      last = x;
    }
    EXPECT_EQ(last, format.largest());
    EXPECT_GE(numbers, codes * 3 / 4);
  }
}

TEST(FloatFormat, OverflowsAsItIsTold) {
  FloatFormat e4m3 = kFp8E4m3;
  FloatFormat e5m2 = kFp8E5m2;
  EXPECT_EQ(rounded(1e9, e4m3), 448);
  EXPECT_EQ(rounded(-kInf, e4m3), -448);
  EXPECT_EQ(rounded(kInf, e5m2), 57344);
  e4m3.overflow = e5m2.overflow = Overflow::infinity;
  EXPECT_EQ(rounded(464.0, e4m3), 448);  // the middle between 448 and 480 is even in 448
  EXPECT_TRUE(std::isnan(rounded(464.1, e4m3)));
  EXPECT_EQ(rounded(61439.0, e5m2), 57344);
  EXPECT_EQ(rounded(61440.0, e5m2), kInf);
  EXPECT_EQ(rounded(65519.0F, kFp16), 65504);
  EXPECT_EQ(rounded(-65520.0F, kFp16), -kInf);
  EXPECT_TRUE(std::isnan(rounded(kNone, kFp16)));
  EXPECT_TRUE(std::isnan(rounded(kNone, kFp8E5m2)));
  EXPECT_EQ(rounded(kNone, kFp4E2m1), 6);
}

// Compared with the compiler's conversion from double.
TEST(FloatFormat, AgreesWithTheProcessorInSinglePrecision) {
  const RandomDraws draws(3, 0);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const double x = draws.normal(0, i) * std::ldexp(1, static_cast<int>(i % 320) - 160);
    ASSERT_TRUE(same(rounded(x, kFloat32), static_cast<float>(x))) << x;
  }
}

TEST(FloatFormat, RoundsStochasticallyWithoutBias) {
  const RandomDraws draws(5, 1);
  for (const auto& [format, x] : {std::pair{kBf16, 1.0F + 0x1p-10F},
                                  {kFp8E4m3, 3e-3F},
                                  {kFp4E2m1, 2.25F},
                                  {kInt8, 12.2F},
                                  {kFp16, -5e-8F}}) {
    std::vector<float> values(100'000, x);
    round_stochastically(values, format, draws, 0);
    double sum = 0;
    double least = kInf;
    double most = -kInf;
    for (const float v : values) {
      ASSERT_EQ(rounded(v, format), v);
      sum += v;
      least = std::min<double>(least, v);
      most = std::max<double>(most, v);
    }
    EXPECT_LT(least, x);
    EXPECT_GT(most, x);
    const double step = most - least;
    EXPECT_NEAR(sum / 100'000, x, 5 * step / 2 / std::sqrt(100'000.0)) << to_text(format);
    // The neighbours, not others.
    EXPECT_LE(step, 2 * std::abs(x) * format.epsilon() + 1.001 * format.smallest_subnormal());
  }
}

// Whatever the draws: a number of the format has no neighbour that it could become.
TEST(FloatFormat, StochasticRoundingKeepsTheNumbersOfTheFormat) {
  const RandomDraws draws(7, 0);
  for (const FloatFormat& format : {kFp4E2m1, kFp8E4m3, kInt8, kFp16}) {
    const std::uint32_t codes = 1U << static_cast<unsigned>(format.bits() - 1);
    for (std::uint32_t code = 0; code < codes; ++code) {
      const auto x = static_cast<float>(decoded(code, format));
      if (!std::isfinite(x)) continue;
      std::vector<float> values(format.bits() > 8 ? 4 : 2000, x);
      round_stochastically(values, format, draws, code * 2000ULL);
      for (const float v : values) ASSERT_EQ(v, x) << to_text(format);
    }
  }
  // The largest share of a step that there is, and the largest draw.
  const Rounder<float> rounder(kInt8);
  EXPECT_EQ(rounder(100.0F, ~std::uint64_t{0}), 100.0F);
  EXPECT_EQ(rounder(100.0F, std::uint64_t{0}), 100.0F);
  EXPECT_EQ(rounder(std::nextafter(100.0F, 101.0F), std::uint64_t{0}), 101.0F);
  EXPECT_EQ(rounder(std::nextafter(101.0F, 100.0F), ~std::uint64_t{0}), 100.0F);
}

// More mantissa bits than fp32: what it holds is not changed, and the rest is rounded to its step.
TEST(FloatFormat, FormatsFinerThanSinglePrecisionKeepItsNumbers) {
  const RandomDraws draws(9, 0);
  for (const FloatFormat& format : {ieee_format(4, 30), ieee_format(7, 52), ieee_format(5, 24)}) {
    const int least = format.least_exponent();
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const int exponent = static_cast<int>(draws.bits(1, i) % 70) - 45;
      const auto x =
          static_cast<float>(std::ldexp(1 + draws.uniform(0, i), std::min(exponent, -least)));
      ASSERT_TRUE(same(rounded(x, format), rounded(static_cast<double>(x), format)))
          << to_text(format) << " " << x;
      std::vector<float> one = {x};
      if (rounded(x, format) == x) {
        round_stochastically(one, format, draws, i);
        ASSERT_EQ(one[0], x) << to_text(format);
      }
    }
  }
  EXPECT_EQ(rounded(0.1F, ieee_format(4, 30)), 0.1F);
  EXPECT_EQ(rounded(1e-3F, ieee_format(4, 30)), 1e-3F);
  EXPECT_EQ(rounded(256.0F, ieee_format(4, 30)), std::numeric_limits<float>::infinity());
}

TEST(FloatFormat, IsNamed) {
  for (const char* name : {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8-e4m3", "fp8-e5m2",
                           "fp6-e3m2", "fp6-e2m3", "fp4-e2m1", "int8", "e8m4", "e11m16"}) {
    const auto format = parse_float_format(name);
    ASSERT_TRUE(format.has_value()) << name;
    EXPECT_EQ(to_text(*format), name);
  }
  EXPECT_EQ(*parse_float_format("fp8_e4m3"), kFp8E4m3);
  EXPECT_EQ(*parse_float_format("e5m10"), kFp16);
  EXPECT_EQ(parse_float_format("bf61").error().text(),
            "unknown number format 'bf61' (did you mean 'bf16'?)");
  EXPECT_EQ(parse_float_format("e12m3").error().text(),
            "the format e12m3 is not supported (e2m1 to e11m52: 2 to 11 exponent bits, 1 to 52 "
            "mantissa bits)");
}

}  // namespace
}  // namespace orrery
