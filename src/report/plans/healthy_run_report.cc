#include "report/plans/healthy_run_report.h"

#include <fmt/format.h>

#include <cmath>

#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"

namespace orrery {

std::string healthy_run_sentence(const HealthyRun& run) {
  std::string out = run.tokens ? compact(*run.tokens) + " tokens, if nothing fails: " : "";
  if (!run.tokens) out = "if nothing fails: ";
  out += fmt::format("{} in {} · {} GPU-hours", counted(run.steps, "step"), span_words(run.wall),
                     compact(run.gpu_hours(run.wall)));
  if (run.price) {
    out += fmt::format(" · {} at {}", dollars(run.cost(run.wall)), run.price_name);
  }
  if (run.power) out += " · " + watt_hours(run.energy(run.wall));
  if (run.carbon) {
    out += fmt::format(" · {} t of CO2", grouped(std::llround(run.carbon_kg(run.wall) / 1000)));
  }
  return out + "; orrery forecast adds failures";
}

std::string healthy_run_tiles(const HealthyRun& run) {
  std::string out =
      "<div class=\"tiles\">\n" +
      html_tile("Run, if nothing fails", span_words(run.wall),
                run.tokens ? compact(*run.tokens) + " tokens" : grouped(run.steps) + " steps") +
      html_tile("GPU-hours", compact(run.gpu_hours(run.wall)),
                "on " + grouped(run.accelerators) + " GPUs");
  if (run.price) {
    out += html_tile("Cost", dollars(run.cost(run.wall)), "at " + run.price_name);
  }
  if (run.power) {
    out += html_tile("Energy", watt_hours(run.energy(run.wall)), "at the design power");
  }
  return out + "</div>\n";
}

}  // namespace orrery
