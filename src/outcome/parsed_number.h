// A number that a text is.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace orrery {

// Nothing if anything else stands in the text, or if the number does not fit the type.
template <class Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace orrery
