#include "document/json_word.h"

namespace orrery {

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at - from;
}

namespace {

bool is_json_number(std::string_view word) {
  std::size_t at = word.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_at(word, at);
  if (whole == 0 || (whole > 1 && word[at] == '0')) return false;
  at += whole;
  if (at < word.size() && word[at] == '.') {
    const std::size_t decimals = digits_at(word, at + 1);
    if (decimals == 0) return false;
    at += 1 + decimals;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    const std::size_t exponent = digits_at(word, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == word.size();
}

}  // namespace

bool is_json_word(std::string_view word) {
  return word == "true" || word == "false" || word == "null" || is_json_number(word);
}

}  // namespace orrery
