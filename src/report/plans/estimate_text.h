// An estimate for a terminal: what it says in one screen, and where each number comes from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "document/results.h"
#include "estimate/estimate.h"
#include "estimate/fabric_simulation.h"
#include "estimate/sensitivity.h"
#include "estimate/traffic.h"
#include "forecast/run_costs.h"
#include "numerics/plan_numerics.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/plan_text.h"

namespace orrery {

// Headline, breakdown (its lines add up to 100.0 %), memory, stages, bottleneck, assumptions.
std::string estimate_text(const Estimate& estimate, const Subject& subject, const TextStyle& style);

// The parts of it.
std::string headline_text(const Estimate& estimate, const Subject& subject, const TextStyle& style);
std::string breakdown_text(const Estimate& estimate, const TextStyle& style);
std::string memory_text(const Estimate& estimate, const TextStyle& style);
std::string stages_text(const Estimate& estimate, const TextStyle& style);
std::string assumed_text(const Estimate& estimate, const TextStyle& style);

// "--explain": every figure with formula, inputs and source.
std::string derivations_text(std::span<const Derivation> derivations, const TextStyle& style);

// "--sensitivity": what more of each resource would gain, as a tornado chart.
std::string sensitivity_text(std::span<const Sensitivity> rows, const TextStyle& style);

// "--traffic": which mesh axis sends how much over which level.
std::string traffic_text(const StepTraffic& traffic, const TextStyle& style);
// "--network flows": communications as flows beside their closed forms.
std::string flows_text(const StepFlows& flows, const TextStyle& style);

// "--numerics": what the plan changes against bf16, and every format with its time and deviation.
std::string numerics_text(const PlanNumerics& numerics, const TextStyle& style);

// How a verdict is shown.
struct VerdictStyle {
  std::string_view words;  // "✗ does not fit"
  Ink ink;
  std::string_view tone;  // of a page
};
const VerdictStyle& style_of(Verdict verdict);

// Which errors the interval of the step time comes from, and why it extrapolates if it does.
std::string interval_sentence(const StepTimeInterval& interval);
// What the plan computes in other formats than training in bf16; empty if nothing.
std::string numeric_changes_sentence(const Estimate& estimate);

// The breakdown as a table: also for Markdown.
Table breakdown_table(const Breakdown& breakdown);

// Neighbouring stages that differ in nothing but their number.
struct StageRange {
  std::size_t first = 0;
  std::size_t last = 0;
};
std::vector<StageRange> equal_stages(const Estimate& estimate);
// "0" or "1-14".
std::string range_words(const StageRange& range);
// Layers of a stage: "7", or by chunk "2+2+2+1", or "8 x 2" where the chunks are equal.
std::string layers_words(const StageReport& stage);
// At most `most_rows`; without colour a bar is the whole.
Table stage_table(const Estimate& estimate, bool colour, std::size_t most_rows);

// A run of steps like the predicted one in which nothing fails: days, GPU-hours, dollars, energy.
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
