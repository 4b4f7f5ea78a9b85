#include "trace/kineto/number_text.h"

#include <charconv>
#include <cmath>

#include "document/json_word.h"
#include "outcome/parsed_number.h"

namespace orrery {
namespace {

std::optional<std::int64_t> with_exponent(std::string_view text) {
  const auto microseconds = parsed_number<double>(text);
  if (!microseconds) return std::nullopt;
  const double nanoseconds = std::round(*microseconds * 1000);
  if (!(std::abs(nanoseconds) <= static_cast<double>(kMaxTimeNs))) return std::nullopt;
  return static_cast<std::int64_t>(nanoseconds);
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
  const bool negative = !microseconds.empty() && microseconds[0] == '-';
  std::size_t at = negative ? 1 : 0;
  const std::size_t first = at;
  std::int64_t value = 0;
  for (; at < microseconds.size() && is_digit(microseconds[at]); ++at) {
    value = value * 10 + (microseconds[at] - '0');
    if (value > kMaxTimeNs / 1000) return std::nullopt;
  }
  if (at == first) return std::nullopt;
  value *= 1000;
  if (at < microseconds.size() && microseconds[at] == '.') {
    std::int64_t weight = 100;
    for (++at; at < microseconds.size() && is_digit(microseconds[at]); ++at) {
      if (weight > 0) {
        value += weight * (microseconds[at] - '0');
        weight /= 10;
        // The first decimal that does not count rounds.
        if (weight == 0 && at + 1 < microseconds.size() && microseconds[at + 1] >= '5' &&
            microseconds[at + 1] <= '9') {
          ++value;
        }
      }
    }
  }
  if (at != microseconds.size()) return with_exponent(microseconds);
  return negative ? -value : value;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  std::uint64_t value = 0;
  const char* first = text.data() + (negative ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

}  // namespace orrery
