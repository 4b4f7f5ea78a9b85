// How often a drawing has a part, for tests.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

inline int count_of(const std::string& text, std::string_view part) {
  int out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++out;
  }
  return out;
}

}  // namespace orrery
