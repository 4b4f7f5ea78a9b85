// Floating-point and fixed-point formats of at most 64 bits, and rounding into them.
//
// A format has s exponent bits with a bias, m mantissa bits, and a rule for its highest codes:
//
//   normal     (-1)^sign 2^(E - bias) (1 + M / 2^m),    E > 0
//   subnormal  (-1)^sign 2^(1 - bias) (M / 2^m),        E = 0
//   highest    ieee      E all ones: infinity (M = 0) or NaN
//              all_ones  E and M all ones: NaN; no infinity   (fp8 e4m3)
//              finite    every code is a number                      (fp6, fp4, int8)
//
// A format without exponent bits is fixed-point: sign and magnitude in steps of 2^(1 - bias - m).
//
// Sources: IEEE 754-2019 sections 3.4 and 4.3; OCP 8-bit Floating Point Specification (OFP8) 1.0,
// tables 1 and 2; OCP Microscaling Formats (MX) 1.0, section 5.3. What is too large becomes the
// largest number (saturating conversion), or infinity, or NaN where there is no infinity
// (OFP8 section 6). fp6 and fp4 have no code for NaN; it becomes the largest, as in
// the saturating conversions of PTX.
//
// Left out: rounding towards zero or infinity, exception flags, signalling NaNs, and formats with
// more than 11 exponent bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "parallel/random_draws.h"

namespace orrery {

enum class HighestCodes { ieee, all_ones, finite };
enum class Overflow { saturate, infinity };
enum class Rounding { nearest_even, stochastic };
template <>
inline constexpr char kWordSeparator<Rounding> = '-';  // "nearest-even"

struct FloatFormat {
  int exponent_bits = 8;
  int mantissa_bits = 23;
  int bias = 127;
  HighestCodes highest = HighestCodes::ieee;
  Overflow overflow = Overflow::infinity;

  bool operator==(const FloatFormat&) const = default;

  [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  // log2 of the smallest normal number, and of the binade of the largest number.
  [[nodiscard]] constexpr int least_exponent() const { return 1 - bias; }
  [[nodiscard]] int largest_exponent() const;
  [[nodiscard]] double largest() const;
  [[nodiscard]] double smallest_normal() const;     // of a fixed-point format: its step
  [[nodiscard]] double smallest_subnormal() const;  // the step between the numbers around zero
  // 2^-m: the distance from 1 to the next number.
  [[nodiscard]] double epsilon() const;
};

// e11m52, e8m23, ...: a format with infinities and the usual bias, 2^(e-1) - 1.
constexpr FloatFormat ieee_format(int exponent_bits, int mantissa_bits) {
  return {exponent_bits, mantissa_bits, (1 << (exponent_bits - 1)) - 1};
}
inline constexpr FloatFormat kFp64 = ieee_format(11, 52);
inline constexpr FloatFormat kFloat32 = ieee_format(8, 23);
inline constexpr FloatFormat kTf32 = ieee_format(8, 10);
inline constexpr FloatFormat kBf16 = ieee_format(8, 7);
inline constexpr FloatFormat kFp16 = ieee_format(5, 10);
inline constexpr FloatFormat kFp8E4m3 = {4, 3, 7, HighestCodes::all_ones, Overflow::saturate};
inline constexpr FloatFormat kFp8E5m2 = {5, 2, 15, HighestCodes::ieee, Overflow::saturate};
inline constexpr FloatFormat kFp6E3m2 = {3, 2, 3, HighestCodes::finite, Overflow::saturate};
inline constexpr FloatFormat kFp6E2m3 = {2, 3, 1, HighestCodes::finite, Overflow::saturate};
inline constexpr FloatFormat kFp4E2m1 = {2, 1, 1, HighestCodes::finite, Overflow::saturate};
// Whole numbers from -127 to 127, and the same in steps of 1/64 (the element of MXINT8).
inline constexpr FloatFormat kInt8 = {0, 7, -6, HighestCodes::finite, Overflow::saturate};
inline constexpr FloatFormat kInt8Fraction = {0, 7, 0, HighestCodes::finite, Overflow::saturate};

// "bf16", "fp8-e4m3", ..., or "e8m7" for any format with infinities: 2 to 11 exponent bits, 1 to 52
// mantissa bits. Error: an unknown name, with the nearest one.
Result<FloatFormat> parse_float_format(std::string_view text);
// The name that parse_float_format reads.
std::string to_text(const FloatFormat& format);

// The nearest number of the format; the even one of two. Signs of zeros are kept.
double rounded(double x, const FloatFormat& format);
float rounded(float x, const FloatFormat& format);

// In place. Stochastic rounding takes the neighbours below and above with the probabilities that
// make x the mean; value i uses draw `first + i` of purpose 0. About 1 ns a value.
void round_all(std::span<double> values, const FloatFormat& format);
void round_all(std::span<float> values, const FloatFormat& format);
void round_stochastically(std::span<float> values, const FloatFormat& format,
                          const RandomDraws& draws, std::uint64_t first);

// The code of the nearest number of a format of at most 16 bits, sign in the highest bit; and the
// number of a code, of which bits beyond the format's are ignored.
void encode(std::span<const float> values, const FloatFormat& format,
            std::span<std::uint16_t> codes);
double decoded(std::uint32_t code, const FloatFormat& format);

}  // namespace orrery
