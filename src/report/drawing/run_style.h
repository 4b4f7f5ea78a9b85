// How the parts of a run's wall-clock time are coloured on a page: training is blue, what a failure
// costs is warm, what comes with running at all is neither.
#pragma once

#include <string>
#include <string_view>

#include "forecast/badput.h"
#include "report/drawing/category_style.h"

namespace orrery {

inline constexpr std::string_view kTraining = "training";  // its variable and class
Swatch swatch_of_training();
Swatch swatch(Badput badput);

// "--training:#2f6fde;", and ".c-training{fill:var(--training)}".
std::string run_variables(std::string_view Swatch::* colour);
std::string run_rules();

}  // namespace orrery
