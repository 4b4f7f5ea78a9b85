#include "number_option.h"

#include <fmt/format.h>

#include <string>

namespace orrery::cli {

CLI::Validator number_within(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) {
      return std::string();
    }
    return fmt::format("'{}' is not a number from {} to {}", text, least, most);
  };
  return {check, fmt::format("FLOAT in [{} - {}]", least, most)};
}

}  // namespace orrery::cli
