#include "trace/pytorch_et/python_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "document/json_word.h"
#include "trace/kineto/json_text.h"

namespace orrery {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

std::optional<std::string_view> after_string(std::string_view text) {
  text.remove_prefix(1);
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '"') return text;
    if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    if (c != '\\') continue;
    if (text.empty()) return std::nullopt;
    const char escaped = text[0];
    text.remove_prefix(1);
    if (escaped == 'u') {
      if (text.size() < 4 ||
          text.substr(0, 4).find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
        return std::nullopt;
      }
      text.remove_prefix(4);
    } else if (std::string_view("\"\\/bfnrt").find(escaped) == std::string_view::npos) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// Behind a number, true, false or null.
std::optional<std::string_view> after_word(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(",]} \t\r\n"), text.size());
  if (!is_json_word(text.substr(0, end))) return std::nullopt;
  return text.substr(end);
}

// NOLINTBEGIN(misc-no-recursion): what these read nests at most kMostNested deep, which is checked
std::optional<std::string_view> after_value(std::string_view text, int depth) {
  text = without_blanks(text);
  if (text.empty() || depth > kMostNested) return std::nullopt;
  if (text[0] == '"') return after_string(text);
  if (text[0] != '[' && text[0] != '{') return after_word(text);
  const bool list = text[0] == '[';
  const char end = list ? ']' : '}';
  text = without_blanks(text.substr(1));
  if (text.starts_with(end)) return text.substr(1);
  while (true) {
    if (!list) {
      if (!text.starts_with('"')) return std::nullopt;
      const auto key = after_string(text);
      if (!key) return std::nullopt;
      text = without_blanks(*key);
      if (!text.starts_with(':')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto item = after_value(text, depth + 1);
    if (!item) return std::nullopt;
    text = without_blanks(*item);
    if (text.starts_with(end)) return text.substr(1);
    if (!text.starts_with(',')) return std::nullopt;
    text = without_blanks(text.substr(1));
  }
}

// As Python's repr() of a string.
void append_quoted(std::string_view text, std::string& out) {
  const bool single =
      text.find('\'') == std::string_view::npos || text.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  out += quote;
  for (const char c : text) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += c;
    }
  }
  out += quote;
}

// As Python's repr() of a float: the shortest digits, an exponent below 1e-4 and from 1e16 on.
void append_float(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += value > 0 ? "inf" : "-inf";
    return;
  }
  const double size = std::fabs(value);
  if (size != 0 && (size < 1e-4 || size >= 1e16)) {
    std::array<char, 32> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                            std::chars_format::scientific);
    out.append(buffer.data(), end);
    return;
  }
  const std::string digits = fmt::format("{}", value);
  out += digits;
  if (digits.find('.') == std::string::npos) out += ".0";
}

std::string_view append_python(std::string_view text, std::string& out) {
  text = without_blanks(text);
  const std::string_view after = after_value(text, 0).value_or(std::string_view{});
  const std::string_view value = text.substr(0, text.size() - after.size());
  if (value == "true") {
    out += "True";
  } else if (value == "false") {
    out += "False";
  } else if (value == "null") {
    out += "None";
  } else if (value.starts_with('"')) {
    std::string buffer;
    append_quoted(plain_text(value, buffer), out);
  } else if (!value.starts_with('[') && !value.starts_with('{')) {
    if (value.find_first_of(".eE") == std::string_view::npos) {
      out += value == "-0" ? "0" : value;
    } else {
      double number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc::result_out_of_range) {
        number = value.find("e-") == std::string_view::npos ? HUGE_VAL : 0;
      }
      append_float(number, out);
    }
  }
  return after;
}
// NOLINTEND(misc-no-recursion)

// Copies a checked text, one token after the other; no recursion.
void append_all(std::string_view text, std::string& out) {
  text = without_blanks(text);
  while (!text.empty()) {
    const char c = text[0];
    if (c == '[' || c == '{' || c == ']' || c == '}') {
      out += c;
      text.remove_prefix(1);
    } else if (c == ',' || c == ':') {
      out += c;
      out += ' ';
      text.remove_prefix(1);
    } else {
      text = append_python(text, out);
    }
    text = without_blanks(text);
  }
}

}  // namespace

bool is_shallow_json(std::string_view text) {
  const auto after = after_value(text, 0);
  return after && without_blanks(*after).empty();
}

std::vector<std::string_view> json_items(std::string_view json) {
  std::vector<std::string_view> out;
  json = without_blanks(json);
  if (!json.starts_with('[')) return out;
  json = without_blanks(json.substr(1));
  while (!json.empty() && !json.starts_with(']')) {
    const auto after = after_value(json, 0);
    if (!after) return out;
    out.push_back(json.substr(0, json.size() - after->size()));
    json = without_blanks(*after);
    if (json.starts_with(',')) json = without_blanks(json.substr(1));
  }
  return out;
}

std::optional<std::string> json_string(std::string_view json) {
  json = without_blanks(json);
  if (!json.starts_with('"')) return std::nullopt;
  const auto after = after_string(json);
  if (!after) return std::nullopt;
  std::string buffer;
  return std::string(plain_text(json.substr(0, json.size() - after->size()), buffer));
}

std::optional<std::int64_t> json_integer(std::string_view json) {
  json = without_blanks(json);
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), out);
  if (error != std::errc{} || end == json.data()) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(json.data() + json.size() - end));
  return without_blanks(rest).empty() ? std::optional(out) : std::nullopt;
}

std::string python_text(std::string_view json) {
  std::string out;
  append_all(json, out);
  return out;
}

}  // namespace orrery
