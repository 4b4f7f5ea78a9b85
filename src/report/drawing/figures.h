// Numbers as people read them in a report.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/memory/memory.h"
#include "units/grouped.h"
#include "units/picoseconds.h"
#include "units/quantity.h"

namespace orrery {

// "1 rank", "1,024 ranks".
template <std::integral N>
std::string counted(N n, std::string_view one, std::string_view many = {}) {
  return fmt::format("{} {}{}", grouped(static_cast<std::int64_t>(n)),
                     n == 1 || many.empty() ? one : many, n != 1 && many.empty() ? "s" : "");
}
// All of them with this between two.
template <class Items>
std::string joined(const Items& items, std::string_view between) {
  return fmt::format("{}", fmt::join(items, between));
}
// "launch_delay" -> "launch delay"; with another character between the words: "launch-delay".
std::string spaced(std::string_view key, char between = ' ');
// The text with no-break spaces, so that a figure stays with its unit.
std::string unbroken(std::string_view text);
// "+1.25 s", "-3 ms".
std::string signed_time(Seconds time);

// A plain number with a decimal suffix and three digits: 2.42e6 -> "2.42 M".
std::string compact(double n);
// A count of parameters, whose thousand millions are called B: 8.03e9 -> "8.03 B".
std::string billions(double n);
// 2.68e12 -> "2.68 TFLOP".
std::string flops_text(double n);
// 0.4123 -> "41.2 %".
std::string percent(double share);
// What part of a whole something is; 0 of nothing.
double share(std::int64_t part, std::int64_t whole);
// 0.000123 with two digits behind the point: "1.23e-04"; of 0 "0".
std::string scientific(double x, int digits);

// A change in percent with its sign: 0.026 -> "+2.6 %"; what rounds to nothing: "+0.0 %".
std::string signed_percent(double change);
// GiB with one decimal, TiB from 1024 of them with two: "58.0 GiB", "15.31 TiB".
std::string gibibytes(ByteCount bytes);
// "89.6 days", below two days "18.7 h", below 0.1 h "58.7 s"; "$35.2 M"; "9.54 GWh".
std::string span_words(Seconds time);
std::string dollars(Dollars amount);
std::string watt_hours(Joules energy);

// Shares of a whole in tenths of a percent that add up to exactly 1000 (method of largest
// remainders; the first of equal remainders wins). All zero if the whole is.
std::vector<int> tenths_of_percent(std::span<const Picoseconds> parts);
// 412 -> "41.2 %".
std::string percent_of_tenths(int tenths);

// Of `all` things at most `most`: the first, the last and evenly spread ones between.
std::vector<std::size_t> evenly_spread(std::size_t all, std::size_t most);
// The indices below `count`, those of the greatest values first; of equal ones the first.
template <class Value>
std::vector<std::size_t> descending(std::size_t count, const Value& value) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::ranges::stable_sort(out, std::ranges::greater(), value);
  return out;
}

// What the time axis of a drawing counts: seconds, or units of the asker's own.
struct TimeAxis {
  Seconds unit{};  // one unit; zero: the axis is in seconds with fitting prefixes

  [[nodiscard]] bool counts_units() const { return unit > Seconds(0); }
};

// "1.25 s", or in units "33" and, with their name, "33 units".
std::string tick_text(Seconds time, const TimeAxis& axis);
std::string time_text(Seconds time, const TimeAxis& axis);

}  // namespace orrery
