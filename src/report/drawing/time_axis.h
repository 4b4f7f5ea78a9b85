// What the time axis of a drawing counts: seconds, or units of the asker's own.
#pragma once

#include <string>

#include "units/quantity.h"

namespace orrery {

struct TimeAxis {
  Seconds unit{};  // one unit; zero: the axis is in seconds with fitting prefixes

  [[nodiscard]] bool counts_units() const { return unit > Seconds(0); }
};

// "1.25 s", or in units "33" and, with their name, "33 units".
std::string tick_text(Seconds time, const TimeAxis& axis);
std::string time_text(Seconds time, const TimeAxis& axis);

}  // namespace orrery
