// A run of steps like the predicted one in which nothing fails: days, GPU-hours, dollars, energy.
#pragma once

#include <optional>
#include <string>

#include "document/results.h"
#include "forecast/run_costs.h"

namespace orrery {

template <>
inline constexpr auto kResults<HealthyRun> = table<HealthyRun>(
    "healthy run",
    "A run in which nothing fails; `orrery forecast` adds failures, checkpoints and restarts.",
    optional_field("tokens", "as asked; the last step may pass more",
                   [](auto& r) { return r.tokens; }),
    field<&HealthyRun::steps>("that pass these tokens"),
    field<&HealthyRun::wall>("wall_s", "wall-clock time: steps x step_time_s"),
    field("gpu_hours", "accelerators x wall-clock time",
          [](auto& r) { return r.gpu_hours(r.wall); }),
    optional_field("price", "name in the catalog, or as given; where there is one",
                   [](auto& r) { return r.price ? std::optional(r.price_name) : std::nullopt; }),
    optional_field("cost_dollars", "where there is a price",
                   [](auto& r) { return r.price ? std::optional(r.cost(r.wall)) : std::nullopt; }),
    optional_field(
        "energy_joules", "at the design power, where it is known",
        [](auto& r) { return r.power ? std::optional(r.energy(r.wall)) : std::nullopt; }),
    optional_field("carbon_kg", "of CO2, where an intensity is given", [](auto& r) {
      return r.carbon ? std::optional(r.carbon_kg(r.wall)) : std::nullopt;
    }));

// "15 T tokens, if nothing fails: 894,070 steps in 46.3 days · 18.2 M GPU-hours · $53.7 M at
// market-h100-sxm · 12.7 GWh; orrery forecast adds failures"
std::string healthy_run_sentence(const HealthyRun& run);

// The same as tiles of a page.
std::string healthy_run_tiles(const HealthyRun& run);

}  // namespace orrery
