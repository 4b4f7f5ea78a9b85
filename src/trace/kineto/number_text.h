// Numbers of Kineto events, from their text.
//
// Times are decimal microseconds with up to three decimals and reach 1.7e15, where a double has a
// resolution of 0.25 us. They are therefore read as whole nanoseconds, exactly. Identifiers are
// 64-bit integers, some of them unsigned; they keep their bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

// The largest time, either sign: 4e15 us is the year 2096, and start plus duration fit 64 bits.
inline constexpr std::int64_t kMaxTimeNs = 4'000'000'000'000'000'000;

// "973473392321.976" becomes 973473392321976; further decimals are rounded; exponents are allowed.
// Nothing if it is not a number or beyond kMaxTimeNs.
std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

// The leading integer of a text: "12", "12.0", "-1"; the sign of 2^63 and more wraps. Nothing if
// there are no digits or the number exceeds 64 bits.
std::optional<std::int64_t> integer_of(std::string_view text);

}  // namespace orrery
