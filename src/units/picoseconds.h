// Simulated time: whole picoseconds held in a double.
//
// Whole numbers up to 2^53 (2.5 hours) are exact in a double, so sums and maxima of them are exact
// and associative: a folded and an expanded simulation, any thread count and any SIMD width give
// the same bits. A cost model returns Seconds, which are rounded once, explicitly, by the functions
// here when they enter a graph.
#pragma once

#include <cmath>
#include <compare>
#include <string>

#include "units/quantity.h"

namespace orrery {

class Picoseconds {
 public:
  constexpr Picoseconds() = default;
  // `count` must be a whole number.
  constexpr explicit Picoseconds(double count) : count_(count) {}

  [[nodiscard]] constexpr double count() const { return count_; }
  [[nodiscard]] constexpr Seconds seconds() const { return Seconds(count_ * 1e-12); }

  constexpr auto operator<=>(const Picoseconds&) const = default;
  constexpr Picoseconds& operator+=(Picoseconds o) {
    count_ += o.count_;
    return *this;
  }
  constexpr Picoseconds& operator-=(Picoseconds o) {
    count_ -= o.count_;
    return *this;
  }
  friend constexpr Picoseconds operator+(Picoseconds a, Picoseconds b) {
    return Picoseconds(a.count_ + b.count_);
  }
  friend constexpr Picoseconds operator-(Picoseconds a, Picoseconds b) {
    return Picoseconds(a.count_ - b.count_);
  }
  // n repetitions of one duration; exact because n is whole.
  friend constexpr Picoseconds operator*(Picoseconds a, int n) { return Picoseconds(a.count_ * n); }

 private:
  double count_ = 0;
};

// Whole picoseconds are exact up to here, 2^53 of them: 2.5 hours. In longer ticks, multiples of a
// power of two, again 2^53 of them are.
inline constexpr Picoseconds kLongestExact{9007199254740992.0};

// The one rounding step between cost models and the graph.
inline Picoseconds round_to_picoseconds(Seconds s) {
  return Picoseconds(std::nearbyint(s.value() * 1e12));
}

// Seconds as decimal digits that are exact to the picosecond: 8412345678901 ps -> "8.412345678901".
// Sums of such numbers in decimal arithmetic are exact.
std::string exact_seconds(Picoseconds time);

}  // namespace orrery
