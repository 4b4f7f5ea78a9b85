// How names of kernels, operators and groups are told apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace orrery {

inline bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
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
