// Rounding into a FloatFormat with its constants at hand: what the functions of float_format.h and
// tensor_format.h do for each value. Left out: formats wider than Real.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numerics/float_format.h"

namespace orrery {

// Rounds the magnitude as bits of Real. A number at least as large as the smallest normal one is
// rounded by an integer addition that carries into the exponent; below, adding and subtracting a
// power of two whose last bit is the format's step rounds to that step. Where a format has more
// mantissa bits than Real, that power of two is below the smallest normal number, and all of Real
// from there on is held.
template <class Real>
struct Rounder {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr int kMantissa = std::numeric_limits<Real>::digits - 1;
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  static constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());

  // Whether no number of Real is changed.
  static bool holds_all(const FloatFormat& f) {
    return f.exponent_bits >= (sizeof(Real) == 4 ? 8 : 11) && f.mantissa_bits >= kMantissa;
  }

  int shift;
  Bits half;
  Bits mask;
  Real magic;
  Bits least_normal;
  Real step;
  Bits largest;
  Bits beyond;  // what is too large becomes
  Bits no_number;

  explicit Rounder(const FloatFormat& f)
      : shift(std::max(0, kMantissa - f.mantissa_bits)),
        half(shift > 0 ? (Bits{1} << (shift - 1)) - 1 : 0),
        mask(~((Bits{1} << shift) - 1)),
        magic(static_cast<Real>(std::ldexp(1.0, kMantissa + f.least_exponent() - f.mantissa_bits))),
        least_normal(f.exponent_bits > 0 ? std::bit_cast<Bits>(std::min(
                                               static_cast<Real>(f.smallest_normal()), magic))
                                         : kInfinity),
        step(static_cast<Real>(f.smallest_subnormal())),
        largest(std::bit_cast<Bits>(at_most(f.largest()))),
        beyond(f.overflow == Overflow::saturate  ? largest
               : f.highest == HighestCodes::ieee ? kInfinity
                                                 : kInfinity + 1),
        no_number(f.highest == HighestCodes::finite ? largest : kInfinity + 1) {}

  // The largest number of Real that is not above x.
  static Real at_most(double x) {
    const auto real = static_cast<Real>(x);
    return static_cast<double>(real) > x ? std::nextafter(real, Real{0}) : real;
  }

  [[nodiscard]] Bits magnitude(Bits bits) const {
    const Bits odd = (bits >> shift) & 1;
    const Bits normal = shift > 0 ? (bits + half + odd) & mask : bits;
    const Bits low = std::bit_cast<Bits>((std::bit_cast<Real>(bits) + magic) - magic);
    return fitted(bits, chosen(bits < least_normal, low, normal));
  }
  // The neighbour above with the probability of the share of the step that x is above the one below,
  // so that numbers of the format stay; `random` has its highest bits at random.
  [[nodiscard]] Bits magnitude(Bits bits, std::uint64_t random) const {
    const Bits normal = (bits + static_cast<Bits>(random >> (64 - sizeof(Real) * 8) &
                                                  static_cast<std::uint64_t>(~mask))) &
                        mask;
    const Real share = static_cast<Real>(random >> 40U) * static_cast<Real>(0x1p-24);
    const Real steps = std::bit_cast<Real>(bits) / step;
    const Real whole = std::floor(steps);
    const Bits low = std::bit_cast<Bits>((share < steps - whole ? whole + 1 : whole) * step);
    return fitted(bits, bits < least_normal ? low : normal);
  }
  [[nodiscard]] Bits fitted(Bits before, Bits after) const {
    const Bits within = chosen(after > largest, beyond, after);
    return chosen(before > kInfinity, no_number, within);
  }
  // Without a branch: compilers do not vectorise one that has additions of its own.
  static Bits chosen(bool condition, Bits yes, Bits no) {
    const Bits mask_of_yes = -static_cast<Bits>(condition);
    return (yes & mask_of_yes) | (no & ~mask_of_yes);
  }

  [[nodiscard]] Real operator()(Real x) const {
    const Bits bits = std::bit_cast<Bits>(x);
    const Bits size = bits & kMagnitude;
    return std::bit_cast<Real>(magnitude(size) | (bits ^ size));
  }
  [[nodiscard]] Real operator()(Real x, std::uint64_t random) const {
    const Bits bits = std::bit_cast<Bits>(x);
    const Bits size = bits & kMagnitude;
    return std::bit_cast<Real>(magnitude(size, random) | (bits ^ size));
  }
};

}  // namespace orrery
