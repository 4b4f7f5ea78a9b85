// What every family of models says of a description that makes no sense: all reasons at once.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "outcome/result.h"

namespace orrery {

struct ModelProblems {
  // Whether the value is right, so that others may be judged by it.
  template <class N>
  bool range(std::string_view field, N value, std::type_identity_t<N> least,
             std::type_identity_t<N> most) {
    const bool right = value >= least && value <= most;
    if (!right) say(fmt::format("{} {} is outside {} to {}", field, value, least, most));
    return right;
  }
  bool require(bool right, std::string_view message) {
    if (!right) say(std::string(message));
    return right;
  }
  void say(std::string message) { all.push_back(std::move(message)); }

  std::vector<std::string> all;
};

// Errors: there are problems.
Result<void> without_problems(std::string_view model, const std::vector<std::string>& problems);

}  // namespace orrery
