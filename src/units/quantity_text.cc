#include "units/quantity_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

namespace orrery {
namespace {

// A unit is `factor / divisor` base units. Both are whole and exact in a double, so that a value is
// rounded once ("10 us" is the double nearest to 1e-5; 10 * 1e-6 is not).
struct Unit {
  std::string_view name;
  double factor;
  double divisor = 1;

  [[nodiscard]] constexpr double in_base(double number) const { return number * factor / divisor; }
  [[nodiscard]] constexpr double from_base(double value) const { return value * divisor / factor; }
};

constexpr double kKi = 1024.0;

constexpr std::array kByteUnits = std::to_array<Unit>({
    {"B", 1},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"PB", 1e15},
    {"EB", 1e18},
    {"KiB", kKi},
    {"MiB", kKi * kKi},
    {"GiB", kKi * kKi * kKi},
    {"TiB", kKi * kKi * kKi * kKi},
    {"PiB", kKi * kKi * kKi * kKi * kKi},
    {"b", 1, 8},
    {"kb", 1e3, 8},
    {"Mb", 1e6, 8},
    {"Gb", 1e9, 8},
    {"Tb", 1e12, 8},
    {"Kib", kKi, 8},
    {"Mib", kKi * kKi, 8},
    {"Gib", kKi * kKi * kKi, 8},
});

constexpr std::array kSecondUnits = std::to_array<Unit>({
    {"s", 1},
    {"ms", 1, 1e3},
    {"us", 1, 1e6},
    {"µs", 1, 1e6},
    {"ns", 1, 1e9},
    {"ps", 1, 1e12},
    {"min", 60},
    {"h", 3600},
    {"hours", 3600},
    {"d", 86400},
    {"days", 86400},
});

constexpr std::array kFlopRateUnits = std::to_array<Unit>({
    {"FLOP/s", 1},
    {"kFLOP/s", 1e3},
    {"MFLOP/s", 1e6},
    {"GFLOP/s", 1e9},
    {"TFLOP/s", 1e12},
    {"PFLOP/s", 1e15},
    {"EFLOP/s", 1e18},
    {"FLOPS", 1},
    {"kFLOPS", 1e3},
    {"MFLOPS", 1e6},
    {"GFLOPS", 1e9},
    {"TFLOPS", 1e12},
    {"PFLOPS", 1e15},
    {"EFLOPS", 1e18},
    {"OP/s", 1},
    {"GOP/s", 1e9},
    {"TOP/s", 1e12},
    {"POP/s", 1e15},
});

constexpr std::array kHertzUnits =
    std::to_array<Unit>({{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}});

constexpr std::array kWattUnits =
    std::to_array<Unit>({{"W", 1}, {"kW", 1e3}, {"MW", 1e6}, {"GW", 1e9}});

constexpr std::array kPriceUnits =
    std::to_array<Unit>({{"$/h", 1, 3600}, {"$/s", 1}, {"USD/h", 1, 3600}});

constexpr std::array kCountUnits = std::to_array<Unit>({{"", 1}, {"Ki", kKi}, {"Mi", kKi * kKi}});

std::string quoted(std::string_view s) { return "'" + std::string(s.substr(0, 60)) + "'"; }

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

// Reads "<number> <unit>"; `suffix` ("/s") must follow the unit when not empty. `examples`, with
// their quotes, are what an error says to write.
Result<double> parse(std::string_view text, std::span<const Unit> units, std::string_view suffix,
                     std::string_view what, std::string_view examples) {
  const std::string hint = "write " + std::string(what) + " such as " + std::string(examples);
  const std::string_view s = trimmed(text);
  double number = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), number);
  if (error == std::errc::result_out_of_range) {
    return bad_input(quoted(text) + " is out of range", "", hint);
  }
  if (error != std::errc()) {
    return bad_input(quoted(text) + " does not begin with a number", "", hint);
  }
  if (!std::isfinite(number)) return bad_input(quoted(text) + " is not finite", "", hint);
  std::string_view rest = trimmed(s.substr(static_cast<std::size_t>(end - s.data())));
  const bool bare_is_known = units.front().name.empty();
  if (rest.empty() && !bare_is_known) {
    if (number == 0) return 0.0;
    return bad_input(quoted(text) + " has no unit", "", hint);
  }
  if (!suffix.empty()) {
    if (rest.ends_with(suffix)) {
      rest.remove_suffix(suffix.size());
    } else if (rest.ends_with("ps") && suffix == "/s" && rest.size() > 2 && rest.front() != 'p') {
      rest.remove_suffix(2);  // "GBps", "Gbps"
    } else {
      return bad_input(quoted(text) + " is not a rate", "", hint);
    }
  }
  for (const Unit& unit : units) {
    if (unit.name != rest) continue;
    const double value = unit.in_base(number);
    if (!std::isfinite(value)) return bad_input(quoted(text) + " is out of range", "", hint);
    return value;
  }
  return bad_input(
      quoted(text) + " has the unknown unit " + quoted(rest) + " for " + std::string(what), "",
      hint);
}

template <class Q>
Result<Q> as(Result<double> value) {
  if (!value) return fail(std::move(value.error()));
  return Q(*value);
}

// Three significant digits, no exponent for the ranges we print.
std::string digits(double v) {
  const double a = std::abs(v);
  char buffer[64];
  const char* format = a >= 99.95 ? "%.0f" : a >= 9.995 ? "%.1f" : "%.2f";
  std::snprintf(buffer, sizeof buffer, format, v);
  return buffer;
}

// The largest of the units (ascending) that leaves at least 1.
std::string scaled(double v, std::span<const Unit> ascending) {
  const Unit* best = ascending.data();
  for (const Unit& u : ascending) {
    if (std::abs(v) >= u.in_base(0.9995)) best = &u;
  }
  return digits(best->from_base(v)) + " " + std::string(best->name);
}

std::string shortest(double v) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, v);
  return error == std::errc() ? std::string(buffer, end) : std::string("?");
}

// The shortest text over the given units that reads back to the same bits.
std::string exact(double v, std::span<const Unit> units) {
  if (v == 0) return "0 " + std::string(units.front().name);
  std::string best;
  for (const Unit& u : units) {
    const double n = u.from_base(v);
    if (u.in_base(n) != v) continue;
    std::string text = shortest(n) + " " + std::string(u.name);
    const bool readable = std::abs(n) >= 1 && std::abs(n) < 1e5;
    const bool best_readable = !best.empty() && best.find('e') == std::string::npos;
    const bool tie = text.size() == best.size() && std::abs(n) >= 1 && std::abs(n) < 1e3;
    if (best.empty() || tie || (text.size() < best.size() && (readable || !best_readable))) {
      best = std::move(text);
    }
  }
  return best;
}

constexpr std::array kExactRates =
    std::to_array<Unit>({{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}});
constexpr std::array kExactBytes = std::to_array<Unit>({{"B", 1},
                                                        {"KiB", kKi},
                                                        {"MiB", kKi * kKi},
                                                        {"GiB", kKi * kKi * kKi},
                                                        {"kB", 1e3},
                                                        {"MB", 1e6},
                                                        {"GB", 1e9},
                                                        {"TB", 1e12}});

}  // namespace

Result<Seconds> parse_seconds(std::string_view text) {
  return as<Seconds>(parse(text, kSecondUnits, "", "a time", R"("12 us", "30 min" or "60 days")"));
}
Result<Bytes> parse_bytes(std::string_view text) {
  return as<Bytes>(parse(text, kByteUnits, "", "a size", R"("80 GiB")"));
}
Result<BytesPerSecond> parse_bytes_per_second(std::string_view text) {
  return as<BytesPerSecond>(
      parse(text, kByteUnits, "/s", "a bandwidth", R"("400 Gb/s" or "50 GB/s")"));
}
Result<FlopsPerSecond> parse_flops_per_second(std::string_view text) {
  return as<FlopsPerSecond>(parse(text, kFlopRateUnits, "", "a FLOP rate", R"("989 TFLOP/s")"));
}
Result<Hertz> parse_hertz(std::string_view text) {
  return as<Hertz>(parse(text, kHertzUnits, "", "a frequency", R"("1.98 GHz")"));
}
Result<Watts> parse_watts(std::string_view text) {
  return as<Watts>(parse(text, kWattUnits, "", "a power", R"("700 W")"));
}
Result<DollarsPerSecond> parse_dollars_per_second(std::string_view text) {
  return as<DollarsPerSecond>(parse(text, kPriceUnits, "", "a price", R"("2.95 $/h")"));
}
Result<double> parse_count(std::string_view text) {
  const char prefix = text.size() > 1 ? text.back() : ' ';
  const bool thousands = prefix == 'k' || prefix == 'K';
  if (thousands || prefix == 'M') {
    const std::string_view number = text.substr(0, text.size() - 1);
    ORRERY_TRY(const double n, parse(number, kCountUnits, "", "a count", R"("16384")"));
    return bad_input("'" + std::string(text) + "' can be read in two ways", "",
                     "write " + shortest(n * (thousands ? 1e3 : 1e6)) + " or " +
                         std::string(number) + (thousands ? "Ki" : "Mi"));
  }
  return parse(text, kCountUnits, "", "a count", R"("16384" or "16Ki")");
}

std::string to_text(Seconds s) {
  static constexpr auto kUnits = std::to_array<Unit>(
      {{"ps", 1, 1e12}, {"ns", 1, 1e9}, {"us", 1, 1e6}, {"ms", 1, 1e3}, {"s", 1}});
  if (s.value() == 0) return "0 s";
  if (std::abs(s.value()) >= 2 * 86400.0) return digits(s.value() / 86400) + " days";
  if (std::abs(s.value()) >= 7200) return digits(s.value() / 3600) + " h";
  return scaled(s.value(), kUnits);
}
std::string to_text(Bytes b) {
  static constexpr auto kUnits = std::to_array<Unit>({{"B", 1},
                                                      {"KiB", kKi},
                                                      {"MiB", kKi * kKi},
                                                      {"GiB", kKi * kKi * kKi},
                                                      {"TiB", kKi * kKi * kKi * kKi}});
  return scaled(b.value(), kUnits);
}
std::string to_text(BytesPerSecond r) { return scaled(r.value(), kExactRates); }
std::string to_text(Flops f) {
  static constexpr auto kUnits = std::to_array<Unit>({{"FLOP", 1},
                                                      {"kFLOP", 1e3},
                                                      {"MFLOP", 1e6},
                                                      {"GFLOP", 1e9},
                                                      {"TFLOP", 1e12},
                                                      {"PFLOP", 1e15},
                                                      {"EFLOP", 1e18}});
  return scaled(f.value(), kUnits);
}
std::string to_text(FlopsPerSecond r) {
  static constexpr auto kUnits = std::to_array<Unit>({{"FLOP/s", 1},
                                                      {"kFLOP/s", 1e3},
                                                      {"MFLOP/s", 1e6},
                                                      {"GFLOP/s", 1e9},
                                                      {"TFLOP/s", 1e12},
                                                      {"PFLOP/s", 1e15},
                                                      {"EFLOP/s", 1e18}});
  return scaled(r.value(), kUnits);
}

std::string to_exact_text(Seconds s) {
  static constexpr auto kUnits = std::to_array<Unit>(
      {{"s", 1}, {"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9}, {"ps", 1, 1e12}});
  return exact(s.value(), kUnits);
}
std::string to_exact_text(Bytes b) { return exact(b.value(), kExactBytes); }
std::string to_exact_text(BytesPerSecond r) { return exact(r.value(), kExactRates); }
std::string to_exact_text(FlopsPerSecond r) {
  return exact(r.value(), std::span(kFlopRateUnits).first(7));
}
std::string to_exact_text(Hertz f) { return exact(f.value(), kHertzUnits); }
std::string to_exact_text(Watts w) { return exact(w.value(), kWattUnits); }
std::string to_exact_text(DollarsPerSecond r) { return exact(r.value(), kPriceUnits); }

}  // namespace orrery
