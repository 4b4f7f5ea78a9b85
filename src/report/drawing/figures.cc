#include "report/drawing/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "units/quantity_text.h"

namespace orrery {

std::string spaced(std::string_view key, char between) {
  std::string out(key);
  std::ranges::replace(out, '_', between);
  return out;
}

std::string unbroken(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == ' ' ? std::string("\u00A0") : std::string(1, c);
  return out;
}

std::string signed_time(Seconds time) {
  return (time < Seconds(0) ? "-" : "+") + to_text(time < Seconds(0) ? -time : time);
}

std::string compact(double n) {
  struct Suffix {
    double factor;
    const char* name;
  };
  static constexpr std::array<Suffix, 6> kSuffixes = {
      {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}}};
  for (const auto& [factor, name] : kSuffixes) {
    // 999.5 would be written with four digits: it belongs to the next suffix.
    if (std::abs(n) < factor * 0.9995 && factor > 1) continue;
    const double scaled = n / factor;
    const double magnitude = std::abs(scaled);
    const int decimals = magnitude >= 99.95 || n == 0 ? 0 : magnitude >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f}{}", scaled, decimals, name);
  }
  return "0";
}

std::string billions(double n) {
  std::string out = compact(n);
  if (out.back() == 'G') out.back() = 'B';
  return out;
}

std::string flops_text(double n) {
  const std::string out = compact(n);
  return out + (out.find(' ') == std::string::npos ? " FLOP" : "FLOP");
}

double share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string signed_percent(double change) {
  std::string out = fmt::format("{:+.1f} %", change * 100);
  return out == "-0.0 %" ? "+0.0 %" : out;
}

std::string gibibytes(ByteCount bytes) {
  constexpr double kKi = 1024;
  const double gib = static_cast<double>(bytes) / (kKi * kKi * kKi);
  return std::abs(gib) < kKi ? fmt::format("{:.1f} GiB", gib)
                             : fmt::format("{:.2f} TiB", gib / kKi);
}

std::string span_words(Seconds s) {
  const double days = s / Seconds(86400);
  if (std::abs(days) >= 9.995) return fmt::format("{:.1f} days", days);
  if (std::abs(days) >= 1.9995) return fmt::format("{:.2f} days", days);
  const double hours = 24 * days;
  if (std::abs(hours) < 0.1) return std::abs(s.value()) < 1e-9 ? "0 s" : to_text(s);
  return fmt::format("{:.{}f} h", hours, std::abs(hours) < 9.995 ? 2 : 1);
}
std::string dollars(Dollars d) { return "$" + compact(d.value()); }
std::string watt_hours(Joules e) { return compact(e.value() / 3600) + "Wh"; }

std::vector<int> tenths_of_percent(std::span<const Picoseconds> parts) {
  const double whole =
      std::accumulate(parts.begin(), parts.end(), 0.0,
                      [](double sum, Picoseconds part) { return sum + part.count(); });
  std::vector<int> tenths(parts.size(), 0);
  if (!(whole > 0)) return tenths;
  std::vector<double> remainders;
  int missing = 1000;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = parts[i].count() / whole * 1000;
    tenths[i] = static_cast<int>(std::floor(exact));
    remainders.push_back(exact - std::floor(exact));
    missing -= tenths[i];
  }
  const auto order = descending(parts.size(), [&](std::size_t i) { return remainders[i]; });
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i, --missing) ++tenths[order[i]];
  return tenths;
}

std::string percent_of_tenths(int tenths) {
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

std::vector<std::size_t> evenly_spread(std::size_t all, std::size_t most) {
  const std::size_t shown = std::min(all, most);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < shown; ++i)
    out.push_back(shown < 2 ? 0 : i * (all - 1) / (shown - 1));
  return out;
}

std::string scientific(double x, int digits) {
  return x == 0 ? "0" : fmt::format("{:.{}e}", x, digits);
}

std::string tick_text(Seconds time, const TimeAxis& axis) {
  if (!axis.counts_units()) return to_text(time);
  return fmt::format("{:.6g}", time.value() / axis.unit.value());
}

std::string time_text(Seconds time, const TimeAxis& axis) {
  if (!axis.counts_units()) return to_text(time);
  const std::string number = tick_text(time, axis);
  return number + (number == "1" ? " unit" : " units");
}

}  // namespace orrery
