#include "numerics/float_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "numerics/rounder.h"
#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

struct Named {
  std::string_view name;
  FloatFormat format;
};
constexpr auto kNamed = std::to_array<Named>({{"fp64", kFp64},
                                              {"fp32", kFloat32},
                                              {"tf32", kTf32},
                                              {"bf16", kBf16},
                                              {"fp16", kFp16},
                                              {"fp8-e4m3", kFp8E4m3},
                                              {"fp8-e5m2", kFp8E5m2},
                                              {"fp6-e3m2", kFp6E3m2},
                                              {"fp6-e2m3", kFp6E2m3},
                                              {"fp4-e2m1", kFp4E2m1},
                                              {"int8", kInt8},
                                              {"int8-fraction", kInt8Fraction}});

}  // namespace

int FloatFormat::largest_exponent() const {
  return (1 << exponent_bits) - 1 - bias - (highest == HighestCodes::ieee ? 1 : 0);
}

double FloatFormat::largest() const {
  if (exponent_bits == 0) return ((1 << mantissa_bits) - 1) * smallest_subnormal();
  const int missing = highest == HighestCodes::all_ones ? 2 : 1;
  return std::ldexp(2 - missing * epsilon(), largest_exponent());
}
double FloatFormat::smallest_normal() const {
  return exponent_bits == 0 ? smallest_subnormal() : std::ldexp(1.0, least_exponent());
}
double FloatFormat::smallest_subnormal() const {
  return std::ldexp(1.0, least_exponent() - mantissa_bits);
}
double FloatFormat::epsilon() const { return std::ldexp(1.0, -mantissa_bits); }

Result<FloatFormat> parse_float_format(std::string_view text) {
  std::string folded(text);
  std::ranges::replace(folded, '_', '-');
  std::vector<std::string> known;
  for (const Named& n : kNamed) {
    if (n.name == folded) return n.format;
    known.emplace_back(n.name);
  }
  const std::size_t m = text.find('m');
  if (text.starts_with('e') && m != std::string_view::npos) {
    const auto exponent = parsed_number<int>(text.substr(1, m - 1));
    const auto mantissa = parsed_number<int>(text.substr(m + 1));
    if (exponent && mantissa) {
      if (*exponent < 2 || *exponent > 11 || *mantissa < 1 || *mantissa > 52) {
        return bad_input("the format " + std::string(text) + " is not supported", "",
                         "e2m1 to e11m52: 2 to 11 exponent bits, 1 to 52 mantissa bits");
      }
      return ieee_format(*exponent, *mantissa);
    }
  }
  return bad_input("unknown number format '" + std::string(text) + "'", "",
                   name_hint(folded, known));
}

std::string to_text(const FloatFormat& format) {
  const auto* named = std::ranges::find(kNamed, format, &Named::format);
  return named != kNamed.end() ? std::string(named->name)
                               : fmt::format("e{}m{}", format.exponent_bits, format.mantissa_bits);
}

double rounded(double x, const FloatFormat& format) {
  return Rounder<double>::holds_all(format) ? x : Rounder<double>(format)(x);
}
float rounded(float x, const FloatFormat& format) {
  return Rounder<float>::holds_all(format) ? x : Rounder<float>(format)(x);
}

void round_all(std::span<double> values, const FloatFormat& format) {
  if (Rounder<double>::holds_all(format)) return;
  const Rounder<double> rounder(format);
  for (double& x : values) x = rounder(x);
}
void round_all(std::span<float> values, const FloatFormat& format) {
  if (Rounder<float>::holds_all(format)) return;
  const Rounder<float> rounder(format);
  for (float& x : values) x = rounder(x);
}
void round_stochastically(std::span<float> values, const FloatFormat& format,
                          const RandomDraws& draws, std::uint64_t first) {
  if (Rounder<float>::holds_all(format)) return;
  const Rounder<float> rounder(format);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = rounder(values[i], draws.bits(0, first + i));
  }
}

void encode(std::span<const float> values, const FloatFormat& format,
            std::span<std::uint16_t> codes) {
  using R = Rounder<float>;
  const R rounder(format);
  const R::Bits lowest = (127 + format.least_exponent() - 1) << format.mantissa_bits;
  // With the exponents of fp32, its subnormal numbers have the same bits as its normal ones.
  const bool same_exponents = format.exponent_bits == 8;
  const R::Bits least_normal = same_exponents ? 0 : rounder.least_normal;
  const float steps = same_exponents ? 0 : static_cast<float>(1 / format.smallest_subnormal());
  const R::Bits infinity = ((1 << format.exponent_bits) - 1) << format.mantissa_bits;
  const R::Bits no_number =
      infinity + (format.highest == HighestCodes::all_ones ? (1 << format.mantissa_bits) - 1
                                                           : 1 << (format.mantissa_bits - 1));
  const int sign_shift = 32 - format.bits();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    const R::Bits size = rounder.magnitude(static_cast<R::Bits>(bits) & R::kMagnitude);
    const bool is_low = size < least_normal;
    const auto low = static_cast<R::Bits>(std::bit_cast<float>(R::chosen(is_low, size, 0)) * steps);
    R::Bits code = R::chosen(is_low, low, (size >> rounder.shift) - lowest);
    code = R::chosen(size == R::kInfinity, infinity, code);
    code = R::chosen(size > R::kInfinity, no_number, code);
    const std::uint32_t sign = (bits & 0x80000000U) >> static_cast<unsigned>(sign_shift);
    codes[i] = static_cast<std::uint16_t>(static_cast<std::uint32_t>(code) | sign);
  }
}

double decoded(std::uint32_t code, const FloatFormat& format) {
  const std::uint32_t mantissa = code & ((1U << format.mantissa_bits) - 1);
  const std::uint32_t all_ones = (1U << format.exponent_bits) - 1;
  const std::uint32_t exponent = (code >> format.mantissa_bits) & all_ones;
  const bool negative = ((code >> (format.bits() - 1)) & 1U) != 0;
  double size = 0;
  if (exponent == 0) {
    size = mantissa * format.smallest_subnormal();
  } else if (format.highest == HighestCodes::ieee && exponent == all_ones) {
    size = mantissa == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else if (format.highest == HighestCodes::all_ones && exponent == all_ones &&
             mantissa == (1U << format.mantissa_bits) - 1) {
    size = std::numeric_limits<double>::quiet_NaN();
  } else {
    size = std::ldexp(1 + mantissa * format.epsilon(), static_cast<int>(exponent) - format.bias);
  }
  return negative ? -size : size;
}

}  // namespace orrery
