#include "report/drawing/time_axis.h"

#include <fmt/format.h>

#include "units/quantity_text.h"

namespace orrery {

std::string tick_text(Seconds time, const TimeAxis& axis) {
  if (!axis.counts_units()) return to_text(time);
  return fmt::format("{:.6g}", time.value() / axis.unit.value());
}

std::string time_text(Seconds time, const TimeAxis& axis) {
  if (!axis.counts_units()) return to_text(time);
  const std::string number = tick_text(time, axis);
  return number + (number == "1" ? " unit" : " units");
}

}  // namespace orrery
