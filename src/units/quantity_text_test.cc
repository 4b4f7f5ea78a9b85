#include "units/quantity_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace orrery {
namespace {

using ::testing::HasSubstr;

template <class Q>
double value(const Result<Q>& q) {
  EXPECT_TRUE(q) << (q ? "" : q.error().text());
  return q ? q->value() : std::nan("");
}

template <class Q>
std::string error(const Result<Q>& q) {
  return q ? "accepted" : q.error().text();
}

TEST(QuantityText, TellsBitsFromBytes) {
  EXPECT_EQ(value(parse_bytes_per_second("400 Gb/s")), 50e9);
  EXPECT_EQ(value(parse_bytes_per_second("50 GB/s")), 50e9);
  EXPECT_EQ(value(parse_bytes_per_second("400Gbps")), 50e9);
  EXPECT_EQ(value(parse_bytes_per_second("50GBps")), 50e9);
  EXPECT_EQ(value(parse_bytes("8 b")), 1);
  EXPECT_EQ(value(parse_bytes("1 Gib")), 134217728);
}

TEST(QuantityText, TellsDecimalFromBinaryPrefixes) {
  EXPECT_EQ(value(parse_bytes("80 GB")), 80e9);
  EXPECT_EQ(value(parse_bytes("80 GiB")), 85899345920.0);
  EXPECT_EQ(value(parse_bytes("1 KiB")), 1024);
  EXPECT_EQ(value(parse_bytes("1 kB")), 1000);
  EXPECT_EQ(value(parse_bytes("1 PiB")), 1125899906842624.0);
}

TEST(QuantityText, PrefixesAreExact) {
  EXPECT_EQ(value(parse_seconds("10 us")), 10e-6);
  EXPECT_EQ(value(parse_seconds("3 ns")), 3e-9);
  EXPECT_EQ(value(parse_seconds("7 ps")), 7e-12);
  EXPECT_EQ(value(parse_seconds("25 ms")), 25e-3);
  EXPECT_EQ(value(parse_bytes_per_second("3.35 TB/s")), 3.35e12);
  EXPECT_EQ(value(parse_flops_per_second("989 TFLOP/s")), 989e12);
  for (int i = 1; i < 2000; ++i) {
    const double expected = static_cast<double>(i) / 1e6;
    EXPECT_EQ(value(parse_seconds(std::to_string(i) + " us")), expected);
  }
}

TEST(QuantityText, ReadsEveryDimension) {
  EXPECT_EQ(value(parse_flops_per_second("989 TFLOPS")), 989e12);
  EXPECT_EQ(value(parse_flops_per_second("1979 TOP/s")), 1979e12);
  EXPECT_EQ(value(parse_hertz("1.98 GHz")), 1.98e9);
  EXPECT_EQ(value(parse_watts("10.2 kW")), 10.2e3);
  EXPECT_EQ(value(parse_dollars_per_second("3600 $/h")), 1);
  EXPECT_EQ(value(parse_seconds("2 h")), 7200);
  EXPECT_EQ(value(parse_seconds("1.5 days")), 129600);
  EXPECT_EQ(value(parse_seconds("12 µs")), 12e-6);
}

TEST(QuantityText, SpaceIsOptional) {
  EXPECT_EQ(value(parse_bytes("80GiB")), value(parse_bytes("80 GiB")));
  EXPECT_EQ(value(parse_bytes("  80   GiB\t")), value(parse_bytes("80 GiB")));
}

TEST(QuantityText, OnlyZeroNeedsNoUnit) {
  EXPECT_EQ(value(parse_seconds("0")), 0);
  EXPECT_EQ(error(parse_bytes("80")), "'80' has no unit (write a size such as \"80 GiB\")");
  EXPECT_THAT(error(parse_bytes_per_second("50")), HasSubstr("has no unit"));
}

TEST(QuantityText, RefusesInWords) {
  EXPECT_THAT(error(parse_bytes("")), HasSubstr("does not begin with a number"));
  EXPECT_THAT(error(parse_bytes("GiB")), HasSubstr("does not begin with a number"));
  EXPECT_THAT(error(parse_bytes("80 gib")), HasSubstr("unknown unit 'gib' for a size"));
  EXPECT_THAT(error(parse_bytes("80 GB/s")), HasSubstr("unknown unit"));
  EXPECT_THAT(error(parse_bytes_per_second("80 GB")), HasSubstr("is not a rate"));
  EXPECT_THAT(error(parse_seconds("12 GB")), HasSubstr("unknown unit 'GB' for a time"));
  EXPECT_THAT(error(parse_seconds("nan s")), HasSubstr("not finite"));
  EXPECT_THAT(error(parse_seconds("inf s")), HasSubstr("not finite"));
  EXPECT_THAT(error(parse_seconds("-inf s")), HasSubstr("not finite"));
  EXPECT_THAT(error(parse_seconds("1e999 s")), HasSubstr("out of range"));
  EXPECT_THAT(error(parse_bytes("1e308 EB")), HasSubstr("out of range"));
  EXPECT_THAT(error(parse_bytes("1 2 GB")), HasSubstr("unknown unit"));
  EXPECT_THAT(error(parse_bytes("0x10 GB")), HasSubstr("unknown unit"));
  EXPECT_LT(error(parse_bytes(std::string(100000, 'x'))).size(), 200u);
}

TEST(QuantityText, CountsTakeDecimalAndBinarySuffixes) {
  EXPECT_EQ(*parse_count("16384"), 16384);
  EXPECT_EQ(*parse_count("16Ki"), 16384);
  EXPECT_EQ(*parse_count("1Mi"), 1048576);
  EXPECT_EQ(parse_count("32k").error().text(),
            "'32k' can be read in two ways (write 32000 or 32Ki)");
  EXPECT_FALSE(parse_count("1M"));
  EXPECT_FALSE(parse_count("k"));
  EXPECT_FALSE(parse_count("12 us"));
  EXPECT_FALSE(parse_count("nan"));
}

TEST(QuantityText, PeopleGetThreeDigits) {
  EXPECT_EQ(to_text(Seconds(0)), "0 s");
  EXPECT_EQ(to_text(Seconds(12e-6)), "12.0 us");
  EXPECT_EQ(to_text(Seconds(4.567)), "4.57 s");
  EXPECT_EQ(to_text(Seconds(9.996)), "10.0 s");
  EXPECT_EQ(to_text(Seconds(999.7e-6)), "1.00 ms");
  EXPECT_EQ(to_text(Seconds(4.0 * 3600)), "4.00 h");
  EXPECT_EQ(to_text(Seconds(54.0 * 86400)), "54.0 days");
  EXPECT_EQ(to_text(Bytes(80.0 * (1 << 30))), "80.0 GiB");
  EXPECT_EQ(to_text(BytesPerSecond(3.35e12)), "3.35 TB/s");
  EXPECT_EQ(to_text(FlopsPerSecond(400e12)), "400 TFLOP/s");
  EXPECT_EQ(to_text(Flops(3.8e25)), "38000000 EFLOP");
  EXPECT_EQ(to_text(Seconds(-12e-6)), "-12.0 us");
}

TEST(QuantityText, ExactTextIsReadable) {
  EXPECT_EQ(to_exact_text(BytesPerSecond(50e9)), "50 GB/s");
  EXPECT_EQ(to_exact_text(BytesPerSecond(3.35e12)), "3.35 TB/s");
  EXPECT_EQ(to_exact_text(Bytes(80.0 * (1 << 30))), "80 GiB");
  EXPECT_EQ(to_exact_text(Bytes(80e9)), "80 GB");
  EXPECT_EQ(to_exact_text(Seconds(12e-6)), "12 us");
  EXPECT_EQ(to_exact_text(FlopsPerSecond(989e12)), "989 TFLOP/s");
  EXPECT_EQ(to_exact_text(Hertz(1830e6)), "1.83 GHz");
  EXPECT_EQ(to_exact_text(Watts(700)), "700 W");
  EXPECT_EQ(to_exact_text(Seconds(0)), "0 s");
}

template <class Q>
void expect_round_trip(double v, Result<Q> (*parse)(std::string_view)) {
  const std::string text = to_exact_text(Q(v));
  const auto again = parse(text);
  ASSERT_TRUE(again) << text << ": " << again.error().text();
  EXPECT_EQ(std::bit_cast<std::uint64_t>(again->value()), std::bit_cast<std::uint64_t>(v)) << text;
}

TEST(QuantityText, ExactTextReadsBackToTheSameBits) {
  std::mt19937_64 random(20261121);
  std::uniform_real_distribution<double> exponent(-15, 25);
  for (int i = 0; i < 20000; ++i) {
    const double v = std::pow(10, exponent(random));
    expect_round_trip<Seconds>(v, parse_seconds);
    expect_round_trip<Bytes>(v, parse_bytes);
    expect_round_trip<BytesPerSecond>(v, parse_bytes_per_second);
    expect_round_trip<FlopsPerSecond>(v, parse_flops_per_second);
    expect_round_trip<Hertz>(v, parse_hertz);
    expect_round_trip<Watts>(v, parse_watts);
    expect_round_trip<DollarsPerSecond>(v, parse_dollars_per_second);
  }
  for (const double v : {1e300, 1e-300, 5e-324, 1.7e308, -3.5}) {
    expect_round_trip<Seconds>(v, parse_seconds);
    expect_round_trip<Bytes>(v, parse_bytes);
    expect_round_trip<DollarsPerSecond>(v, parse_dollars_per_second);
  }
}

}  // namespace
}  // namespace orrery
