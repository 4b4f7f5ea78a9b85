#include "document/json_fault.h"

#include <algorithm>
#include <string>

#include "document/json_word.h"
#include "document/utf8.h"

namespace orrery {
namespace {

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
constexpr bool ends_word(char c) {
  return is_space(c) || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}';
}
constexpr bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class Grammar {
 public:
  Grammar(std::string_view text, std::size_t deepest) : text_(text), deepest_(deepest) {}

  // Whether the whole text is one value; if not, `at` is the offset of the first fault.
  bool whole() {
    while (true) {
      while (at < text_.size() && is_space(text_[at])) ++at;
      if (at == text_.size()) return next_ == Next::end_or_comma && open_.empty();
      if (!token(text_[at])) return false;
    }
  }

  std::size_t at = 0;
  bool ascii = true;  // all texts so far

 private:
  enum class Next { value, value_or_end, key, key_or_end, end_or_comma };

  bool token(char c) {
    switch (next_) {
      case Next::value_or_end:
        return c == ']' ? close(c) : value(c);
      case Next::value:
        return value(c);
      case Next::key_or_end:
        return c == '}' ? close(c) : key(c);
      case Next::key:
        return key(c);
      case Next::end_or_comma:
        if (c != ',' || open_.empty()) return close(c);
        ++at;
        next_ = open_.back() == '{' ? Next::key : Next::value;
        return true;
    }
    return false;
  }

  bool close(char c) {
    if (open_.empty() || c != (open_.back() == '{' ? '}' : ']')) return false;
    open_.pop_back();
    ++at;
    next_ = Next::end_or_comma;
    return true;
  }

  bool value(char c) {
    if (c == '{' || c == '[') {
      if (open_.size() == deepest_) return false;
      open_.push_back(c);
      ++at;
      next_ = c == '{' ? Next::key_or_end : Next::value_or_end;
      return true;
    }
    next_ = Next::end_or_comma;
    if (c == '"') return string();
    std::size_t end = at;
    while (end < text_.size() && !ends_word(text_[end])) ++end;
    if (!is_json_word(text_.substr(at, end - at))) return false;
    at = end;
    return true;
  }

  bool key(char c) {
    if (c != '"' || !string()) return false;
    while (at < text_.size() && is_space(text_[at])) ++at;
    if (at == text_.size() || text_[at] != ':') return false;
    ++at;
    next_ = Next::value;
    return true;
  }

  // From the opening quote to the byte after the closing one.
  bool string() {
    for (++at; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '"') {
        ++at;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return false;
      ascii = ascii && static_cast<unsigned char>(c) < 0x80;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  // From the backslash to the last character of the escape.
  bool escape() {
    if (at + 1 == text_.size()) return false;
    const char letter = text_[at + 1];
    if (letter == 'u') {
      const std::string_view digits = text_.substr(at + 2, 4);
      if (digits.size() < 4 || !std::ranges::all_of(digits, is_hex)) return false;
      at += 5;
      return true;
    }
    if (std::string_view("\"\\/bfnrt").find(letter) == std::string_view::npos) return false;
    ++at;
    return true;
  }

  std::string_view text_;
  std::size_t deepest_;
  std::string open_;  // brackets
  Next next_ = Next::value;
};

}  // namespace

std::optional<std::size_t> json_fault(std::string_view text, std::size_t deepest) {
  Grammar grammar(text, deepest);
  const bool whole = grammar.whole();
  const auto other = grammar.ascii ? std::nullopt : first_invalid_utf8(text);
  if (whole) return other;
  return other ? std::min(*other, grammar.at) : grammar.at;
}

}  // namespace orrery
