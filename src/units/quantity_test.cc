#include "units/quantity.h"

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

#include "units/index.h"
#include "units/number_format.h"
#include "units/picoseconds.h"

namespace orrery {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept Subtractable = requires(A a, B b) { a - b; };
template <class A, class B>
concept Comparable = requires(A a, B b) { a < b; };
template <class A, class B>
concept Assignable = requires(A a, B b) { a = b; };

// What must not compile.
static_assert(Addable<Seconds, Seconds>);
static_assert(!Addable<Seconds, Bytes>);
static_assert(!Addable<Bytes, Flops>);
static_assert(!Addable<Seconds, double>);
static_assert(!Addable<Joules, Dollars>);
static_assert(!Subtractable<Bytes, BytesPerSecond>);
static_assert(!Comparable<Seconds, Bytes>);
static_assert(!Comparable<Seconds, double>);
static_assert(!Assignable<Seconds, Bytes>);
static_assert(!std::convertible_to<double, Seconds>);
static_assert(!std::convertible_to<Seconds, double>);
static_assert(!Addable<Picoseconds, Seconds>);
static_assert(!Comparable<Picoseconds, Seconds>);
static_assert(!Comparable<NodeIndex, StreamIndex>);
static_assert(!std::convertible_to<std::size_t, NodeIndex>);

// Products and quotients combine dimensions.
static_assert(std::same_as<decltype(Bytes(1) / BytesPerSecond(1)), Seconds>);
static_assert(std::same_as<decltype(Flops(1) / FlopsPerSecond(1)), Seconds>);
static_assert(std::same_as<decltype(BytesPerSecond(1) * Seconds(1)), Bytes>);
static_assert(std::same_as<decltype(Flops(1) / Bytes(1)), FlopsPerByte>);
static_assert(std::same_as<decltype(FlopsPerByte(1) * BytesPerSecond(1)), FlopsPerSecond>);
static_assert(std::same_as<decltype(Watts(1) * Seconds(1)), Joules>);
static_assert(std::same_as<decltype(DollarsPerSecond(1) * Seconds(1)), Dollars>);
static_assert(std::same_as<decltype(1.0 / Seconds(1)), Hertz>);
static_assert(std::same_as<decltype(Bytes(1) / Bytes(1)), double>);

// No cost over a double.
static_assert(sizeof(Seconds) == sizeof(double));
static_assert(std::is_trivially_copyable_v<Seconds>);
static_assert(sizeof(Picoseconds) == sizeof(double));

TEST(Quantity, CalculatesInBaseUnits) {
  constexpr Seconds kTime = Bytes(100e9) / BytesPerSecond(50e9);
  EXPECT_EQ(kTime.value(), 2);
  EXPECT_EQ((Seconds(1) + Seconds(2) - Seconds(0.5)).value(), 2.5);
  EXPECT_EQ((2.0 * Bytes(3) / 4.0).value(), 1.5);
  EXPECT_EQ((-Seconds(1)).value(), -1);
  EXPECT_EQ(Flops(989e12) / Flops(989e12), 1);
  Seconds sum;
  sum += Seconds(3);
  sum -= Seconds(1);
  sum *= 4;
  EXPECT_EQ(sum, Seconds(8));
  EXPECT_LT(Seconds(1), Seconds(2));
}

TEST(Picoseconds, RoundOnceAndAddExactly) {
  EXPECT_EQ(round_to_picoseconds(Seconds(1e-6)).count(), 1e6);
  EXPECT_EQ(round_to_picoseconds(Seconds(1.4e-12)).count(), 1);
  EXPECT_EQ(round_to_picoseconds(Seconds(0)).count(), 0);
  // Sums of whole picoseconds do not depend on their order, unlike sums of seconds.
  const Picoseconds a(1), b(3e15), c(7);
  EXPECT_EQ((a + b) + c, a + (b + c));
  EXPECT_EQ((a + b) - b, a);
  EXPECT_EQ(Picoseconds(123) * 1000, Picoseconds(123000));
  EXPECT_DOUBLE_EQ(Picoseconds(5e12).seconds().value(), 5);
}

// OCP Microscaling 1.0: one 8-bit scale for 32 elements; NVFP4: one fp8 scale for 16.
TEST(NumberFormat, SizesCountTheSharedScales) {
  EXPECT_EQ(element_size(NumberFormat::fp64), Bytes(8));
  EXPECT_EQ(element_size(NumberFormat::tf32), Bytes(4));
  EXPECT_EQ(element_size(NumberFormat::bf16), Bytes(2));
  EXPECT_EQ(element_size(NumberFormat::fp8), Bytes(1));
  EXPECT_EQ(element_size(NumberFormat::mxfp8) * 32, Bytes(33));
  EXPECT_EQ(element_size(NumberFormat::nvfp4) * 16, Bytes(9));
}

}  // namespace
}  // namespace orrery
