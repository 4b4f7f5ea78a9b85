#include "trace/pytorch_et/python_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "document/json_fault.h"
#include "trace/kineto/json_text.h"
#include "trace/kineto/text_window.h"

namespace orrery {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

// The value at the front of a checked text.
std::string_view first_value(std::string_view text) {
  return text.substr(0, end_of_json_value(text, 0));
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

// Of one that holds no others.
void append_python(std::string_view value, std::string& out) {
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
}

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
      const std::string_view value = first_value(text);
      append_python(value, out);
      text.remove_prefix(value.size());
    }
    text = without_blanks(text);
  }
}

}  // namespace

bool is_shallow_json(std::string_view text) { return !json_fault(text, kMostNested); }

std::vector<std::string_view> json_items(std::string_view json) {
  std::vector<std::string_view> out;
  json = without_blanks(json);
  if (!json.starts_with('[')) return out;
  json = without_blanks(json.substr(1));
  while (!json.empty() && !json.starts_with(']')) {
    const std::size_t end = end_of_json_value(json, 0);
    if (end == std::string_view::npos || end == 0) break;
    out.push_back(json.substr(0, end));
    json = without_blanks(json.substr(end));
    if (json.starts_with(',')) json = without_blanks(json.substr(1));
  }
  return out;
}

std::optional<std::string> json_string(std::string_view json) {
  json = without_blanks(json);
  if (!json.starts_with('"')) return std::nullopt;
  const std::size_t end = end_of_json_value(json, 0);
  if (end == std::string_view::npos) return std::nullopt;
  std::string buffer;
  return std::string(plain_text(json.substr(0, end), buffer));
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
