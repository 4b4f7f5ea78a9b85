#include "model/model_problems.h"

#include <fmt/ranges.h>

namespace orrery {

Result<void> without_problems(std::string_view model, const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  return bad_input(fmt::format("model '{}' cannot be built: {}", model, fmt::join(problems, "; ")));
}

}  // namespace orrery
