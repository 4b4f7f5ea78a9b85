// How names of kernels, operators and groups are told apart.
#pragma once

#include <string_view>

namespace orrery {

inline bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

}  // namespace orrery
