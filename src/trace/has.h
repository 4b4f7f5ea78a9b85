// How names of kernels, operators and groups are told apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace orrery {

inline bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// Whether `text` contains `part`, which is in lower case, in any case of letters.
inline bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == b; }) != text.end();
}

// Whether a text is one of words that blanks part.
constexpr bool is_one_of(std::string_view text, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == text) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace orrery
