#include "trace/kineto/json_text.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "trace/kineto/text_window.h"

namespace orrery {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

std::optional<std::uint32_t> four_hex_digits(std::string_view text) {
  const std::string_view digits = text.substr(0, 4);
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  const bool all = end == digits.data() + digits.size();
  if (digits.size() < 4 || error != std::errc() || !all) return std::nullopt;
  return code;
}

void append_utf8(std::string& to, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { to.push_back(static_cast<char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0U | (code >> 6U));
    byte(0x80U | (code & 0x3fU));
  } else if (code < 0x10000) {
    byte(0xe0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3fU));
    byte(0x80U | (code & 0x3fU));
  } else {
    byte(0xf0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3fU));
    byte(0x80U | ((code >> 6U) & 0x3fU));
    byte(0x80U | (code & 0x3fU));
  }
}

// Appends the character of "\u...." at the front of `rest`, and gives how long it was written.
std::size_t append_unicode(std::string& to, std::string_view rest) {
  const auto code = four_hex_digits(rest.substr(2));
  if (!code) {
    append_utf8(to, kReplacement);
    return 2;
  }
  const bool high = *code >= 0xd800 && *code < 0xdc00;
  const bool low = *code >= 0xdc00 && *code < 0xe000;
  if (high && rest.size() >= 12 && rest.substr(6, 2) == "\\u") {
    const auto second = four_hex_digits(rest.substr(8));
    if (second && *second >= 0xdc00 && *second < 0xe000) {
      append_utf8(to, 0x10000U + ((*code - 0xd800U) << 10U) + (*second - 0xdc00U));
      return 12;
    }
  }
  append_utf8(to, high || low ? kReplacement : *code);
  return 6;
}

std::string_view unescape(std::string_view text, std::string& buffer) {
  buffer.clear();
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      buffer.push_back(text[at++]);
      continue;
    }
    const char escaped = text[at + 1];
    if (escaped == 'u') {
      at += append_unicode(buffer, text.substr(at));
      continue;
    }
    constexpr std::string_view kLetters = "bfnrt";
    constexpr std::string_view kMeanings = "\b\f\n\r\t";
    const std::size_t letter = kLetters.find(escaped);
    buffer.push_back(letter == std::string_view::npos ? escaped : kMeanings[letter]);
    at += 2;
  }
  return buffer;
}

}  // namespace

std::string_view plain_text(std::string_view token, std::string& buffer) {
  if (token.empty()) return token;
  if (token.front() == '"') {
    token.remove_prefix(1);
    if (!token.empty()) token.remove_suffix(1);
    return token.find('\\') == std::string_view::npos ? token : unescape(token, buffer);
  }
  if (token.find('\n') == std::string_view::npos) return token;
  buffer.clear();
  bool in_text = false;
  for (std::size_t at = 0; at < token.size(); ++at) {
    const char c = token[at];
    if (in_text && c == '\\' && at + 1 < token.size()) {
      buffer.append({c, token[++at]});
      continue;
    }
    if (c == '"') in_text = !in_text;
    if (!in_text && is_json_space(c)) continue;
    buffer.push_back(c);
    if (!in_text && c == ',') buffer.push_back(' ');
  }
  return buffer;
}

}  // namespace orrery
