// What the wall-clock time of a run costs, and that of a run in which nothing fails.
//
//   GPU-hours = accelerators x wall,  cost = price x GPU-hours,
//   energy = accelerators x design power x PUE x wall,  carbon = energy x intensity
//
//   healthy run:  wall = ceil(tokens / tokens of a step) x step time
//
// Prices are those of the catalog or stated, powers those of data sheets. Left out: power that falls
// while an accelerator waits, prices that change; of a healthy run also failures, checkpoints and
// restarts, which run_forecast.h adds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "forecast/run_question.h"

namespace orrery {

struct Estimate;

struct RunCosts {
  std::int64_t accelerators = 0;
  std::string price_name;
  std::optional<DollarsPerSecond> price;  // of an accelerator
  std::optional<Watts> power;             // of an accelerator, with PUE
  std::optional<double> carbon;           // grams a kWh

  [[nodiscard]] double gpu_hours(Seconds wall_time) const;
  [[nodiscard]] Dollars cost(Seconds wall_time) const;      // where there is a price
  [[nodiscard]] Joules energy(Seconds wall_time) const;     // where there is a power
  [[nodiscard]] double carbon_kg(Seconds wall_time) const;  // where there is an intensity
};

// The price is the one that the question states, or the median of the catalog's prices of the
// accelerator; price and power of sites that differ are the mean over the accelerators, none where
// one is not known. Errors: an unknown price; one that is not above 0 and at most 1,000,000 $/h.
Result<RunCosts> run_costs(const Cluster& cluster, const RunQuestion& question,
                           const Catalog& catalog);

struct HealthyRun : RunCosts {
  std::optional<double> tokens;  // as asked; empty: steps are
  std::int64_t steps = 0;
  Seconds wall;
  std::string accelerator = "GPU";  // what one is called
};

// The run that a question with tokens or steps describes, made of steps like the estimated one.
// Errors: those of check() and run_costs(); a loss in place of a length; phases, whose steps differ.
Result<HealthyRun> healthy_run(const Estimate& estimate, const Cluster& cluster,
                               const RunQuestion& question, const Catalog& catalog);

}  // namespace orrery
