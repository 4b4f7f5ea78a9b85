// Shares of a whole, and probabilities.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "outcome/result.h"

namespace orrery {

// Errors: it is not from 0 to 1.
inline Result<void> check_share(double share, std::string where, std::string_view what = "share") {
  if (share >= 0 && share <= 1) return {};
  return bad_input(fmt::format("a {} of {}", what, share), std::move(where),
                   "write one between 0 and 1");
}

}  // namespace orrery
