// Physical quantities whose dimension is part of the type.
//
// A Quantity is one double in the base unit (second, byte, FLOP, joule, dollar) and the exponents
// of those units. Multiplying and dividing combine exponents, so Bytes / BytesPerSecond *is*
// Seconds; adding bytes to seconds does not compile. Eight bytes, trivially copyable, constexpr, no
// cost. One multiply-add counts as two FLOPs everywhere. Text both ways is in quantity_text.h.
#pragma once

#include <compare>

namespace orrery {

template <int Time, int Byte, int Flop, int Joule = 0, int Dollar = 0>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  // The number in base units.
  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity o) {
    value_ += o.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value_ -= o.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double f) {
    value_ *= f;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double f) { return Quantity(a.value_ * f); }
  friend constexpr Quantity operator*(double f, Quantity a) { return Quantity(a.value_ * f); }
  friend constexpr Quantity operator/(Quantity a, double f) { return Quantity(a.value_ / f); }

 private:
  double value_ = 0;
};

template <int T, int B, int F, int J, int D, int T2, int B2, int F2, int J2, int D2>
constexpr auto operator*(Quantity<T, B, F, J, D> a, Quantity<T2, B2, F2, J2, D2> b) {
  return Quantity<T + T2, B + B2, F + F2, J + J2, D + D2>(a.value() * b.value());
}

// The ratio of two quantities of one dimension is a plain number.
template <int T, int B, int F, int J, int D, int T2, int B2, int F2, int J2, int D2>
constexpr auto operator/(Quantity<T, B, F, J, D> a, Quantity<T2, B2, F2, J2, D2> b) {
  if constexpr (T == T2 && B == B2 && F == F2 && J == J2 && D == D2) {
    return a.value() / b.value();
  } else {
    return Quantity<T - T2, B - B2, F - F2, J - J2, D - D2>(a.value() / b.value());
  }
}

template <int T, int B, int F, int J, int D>
constexpr auto operator/(double a, Quantity<T, B, F, J, D> b) {
  return Quantity<-T, -B, -F, -J, -D>(a / b.value());
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;
using Hertz = Quantity<-1, 0, 0>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1>;
using FlopsPerByte = Quantity<0, -1, 1>;
using Joules = Quantity<0, 0, 0, 1>;
using Watts = Quantity<-1, 0, 0, 1>;
using Dollars = Quantity<0, 0, 0, 0, 1>;
using DollarsPerSecond = Quantity<-1, 0, 0, 0, 1>;

}  // namespace orrery
