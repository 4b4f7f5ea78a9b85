// A part of a measured row as a description, or the reason why the product cannot express it. Not
// an Error: a row that is skipped is an ordinary answer.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace orrery {

struct Skipped {
  std::string because;
  bool wrong = false;  // what the row states contradicts itself
};

template <class T>
using Expressible = tl::expected<T, Skipped>;

inline tl::unexpected<Skipped> skip(std::string because) {
  return tl::unexpected<Skipped>(Skipped{std::move(because)});
}

inline tl::unexpected<Skipped> skip_wrong(std::string because) {
  return tl::unexpected<Skipped>(Skipped{std::move(because), true});
}

}  // namespace orrery
