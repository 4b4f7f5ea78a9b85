#include "report/drawing/run_style.h"

#include <fmt/format.h>

#include <array>

namespace orrery {

Swatch swatch_of_training() { return {33, "#2f6fde", "#5b93f5"}; }

Swatch swatch(Badput badput) {
  static constexpr std::array<Swatch, 6> kSwatches = {{{101, "#7a6a3a", "#b8a66a"},
                                                       {214, "#f0a202", "#ffc043"},
                                                       {36, "#1aa083", "#3cc9aa"},
                                                       {141, "#9f8ff0", "#b8a9ff"},
                                                       {208, "#f08c3a", "#ff9d4f"},
                                                       {160, "#c92a2a", "#f45b5b"}}};
  const auto i = static_cast<std::size_t>(badput);
  return i < kSwatches.size() ? kSwatches[i] : Swatch{245, "#a3acb5", "#5f6b78"};
}

std::string run_variables(std::string_view Swatch::* colour) {
  std::string out = fmt::format("--{}:{};", kTraining, swatch_of_training().*colour);
  for (const EnumName<Badput>& b : names_of(Badput{})) {
    out += fmt::format("--{}:{};", b.name, swatch(b.value).*colour);
  }
  return out;
}

std::string run_rules() {
  std::string out = fmt::format(".c-{0}{{fill:var(--{0})}}", kTraining);
  for (const EnumName<Badput>& b : names_of(Badput{})) {
    out += fmt::format(".c-{0}{{fill:var(--{0})}}", b.name);
  }
  return out;
}

}  // namespace orrery
