#include "trace/perfetto/json_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "document/json_word.h"
#include "trace/kineto/number_text.h"
#include "trace/kineto/text_window.h"

namespace orrery {
namespace {

constexpr bool is_structural(char c) {
  return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
}

// A time cut at the nanosecond: microseconds "-12.3456" are -12345 ns and "6".
struct CutTime {
  std::int64_t ns = 0;
  std::string_view beyond;  // decimals behind the third
  bool decimals = false;
};

std::optional<CutTime> cut_time(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::size_t first = negative ? 1 : 0;
  const std::size_t whole = digits_at(text, first);
  constexpr std::size_t kMostDigits = 15;  // nanoseconds_of takes at most 4e15 too
  if (whole == 0 || whole > kMostDigits + 1) return std::nullopt;
  CutTime out;
  for (const char c : text.substr(first, whole)) out.ns = out.ns * 10 + (c - '0');
  std::string_view decimals = text.substr(first + whole);
  if (!decimals.empty()) {
    if (decimals.front() != '.' || digits_at(decimals, 1) + 1 != decimals.size()) {
      return std::nullopt;
    }
    decimals.remove_prefix(1);
    out.decimals = true;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    out.ns = out.ns * 10 + (i < decimals.size() ? decimals[i] - '0' : 0);
  }
  if (out.ns > kMaxTimeNs) return std::nullopt;
  if (decimals.size() > 3) out.beyond = decimals.substr(3);
  if (negative) out.ns = -out.ns;
  return out;
}

}  // namespace

void append_microseconds(std::int64_t ns, std::string& out) {
  const bool negative = ns < 0;
  const auto size = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", negative ? "-" : "", size / 1000,
                 size % 1000);
}

void append_as_json(std::string_view values, std::string& out) {
  std::size_t copied = 0;
  for (std::size_t at = 0; at < values.size();) {
    if (is_json_space(values[at]) || is_structural(values[at])) {
      ++at;
      continue;
    }
    // Up to the next space, bracket, comma or colon; those of texts do not count.
    const std::size_t begin = at;
    while (at < values.size() && !is_json_space(values[at]) && !is_structural(values[at])) {
      const bool is_text = values[at] == '"';
      at = is_text ? std::min(end_of_json_value(values, at), values.size()) : at + 1;
    }
    const std::string_view word = values.substr(begin, at - begin);
    if (word.find_first_of("\"\\") != std::string_view::npos || is_json_word(word)) continue;
    out += values.substr(copied, begin - copied);
    append_quoted(word, out);
    copied = at;
  }
  out += values.substr(copied);
}

std::string later_microseconds(std::string_view token, std::int64_t by_ns) {
  if (by_ns == 0) return std::string(token);
  const bool quoted = token.size() > 1 && token.front() == '"' && token.back() == '"';
  const std::string_view text = quoted ? token.substr(1, token.size() - 2) : token;
  std::string out;
  const auto cut = cut_time(text);
  std::int64_t later = 0;
  if (cut && !__builtin_add_overflow(cut->ns, by_ns, &later) &&
      (cut->beyond.empty() || (cut->ns >= 0 && later >= 0 && !text.starts_with('-')))) {
    append_microseconds(later, out);
    if (!cut->decimals && later % 1000 == 0) out.resize(out.size() - 4);
    out += cut->beyond;
  } else {
    const auto rounded = nanoseconds_of(text);
    if (!rounded || __builtin_add_overflow(*rounded, by_ns, &later)) return std::string(token);
    append_microseconds(later, out);
  }
  return quoted ? "\"" + out + "\"" : out;
}

}  // namespace orrery
