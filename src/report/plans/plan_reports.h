// The answers about plans, as texts, pages and documents: of `orrery estimate`, `orrery search`,
// `orrery generate` and `orrery import`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/description.h"
#include "document/results.h"
#include "estimate/estimate.h"
#include "estimate/fabric_simulation.h"
#include "estimate/generation.h"
#include "estimate/operator_shares.h"
#include "estimate/sensitivity.h"
#include "estimate/traffic.h"
#include "forecast/run_costs.h"
#include "launch/launch.h"
#include "numerics/plan_numerics.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/plan_text.h"
#include "schedule/pipeline_span.h"
#include "search/across_sites.h"
#include "search/search.h"
#include "validate/generation_rows.h"

namespace orrery {

// An estimate for a terminal: what it says in one screen, and where each number comes from.

// Headline, breakdown (its lines add up to 100.0 %), memory, stages, bottleneck, assumptions.
std::string estimate_text(const Estimate& estimate, const Subject& subject, const TextStyle& style);

// The parts of it.
std::string headline_text(const Estimate& estimate, const Subject& subject, const TextStyle& style);
std::string breakdown_text(const Estimate& estimate, const TextStyle& style);
std::string memory_text(const Estimate& estimate, const Subject& subject, const TextStyle& style);
std::string assumed_text(const Estimate& estimate, const TextStyle& style);

// "--explain": every figure with formula, inputs and source.
std::string derivations_text(std::span<const Derivation> derivations, const TextStyle& style);

// "--sensitivity": what more of each resource would gain, as a tornado chart.
std::string sensitivity_text(std::span<const Sensitivity> rows, const TextStyle& style);

// "--traffic": which mesh axis sends how much over which level.
std::string traffic_text(const StepTraffic& traffic, std::string_view accelerator,
                         const TextStyle& style);
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

// "40.4 %"; "85.0 % · causal 45.1 %" where causal attention computes far less than MFU counts.
std::string mfu_words(const Estimate& estimate);
// "90 % in", or "range" where the probability is not known.
std::string interval_name(const StepTimeInterval& interval);
// Which errors the interval of the step time comes from, and why it extrapolates if it does.
std::string interval_sentence(const StepTimeInterval& interval);
// What the plan computes in other formats than training in bf16; empty if nothing.
std::string numeric_changes_sentence(const Estimate& estimate);

// The breakdown as a table: also for Markdown.
Table breakdown_table(const Breakdown& breakdown);
// The stage that needs the most memory; none without stages.
std::optional<std::size_t> fullest_stage(const Estimate& estimate);
// A memory report by what takes it.
Table memory_table(const Estimate& estimate, const MemoryReport& memory);

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

// The result of a search for a terminal: the best plans, why the first one won, what nearly did.

// Counts, best plans, runner-ups of each axis, near misses, Pareto front. `elapsed` of zero is left
// out. If nothing fits: by how much the smallest plan is too large. `runs` are those of the plans
// in which nothing fails, or empty.
std::string search_text(const SearchResult& result, const Subject& subject, Seconds elapsed,
                        const TextStyle& style, std::span<const HealthyRun> runs = {});

// The parts of it.
std::string counts_text(const SearchResult& result, Seconds elapsed, const TextStyle& style);
std::string pareto_text(const SearchResult& result, const TextStyle& style);

// The best plans as a table; what does not differ between them is left out, and plans that differ
// in chunks alone and take the same time share a row, which counts them. Also for Markdown.
Table plans_table(const SearchResult& result, std::span<const HealthyRun> runs = {});
// For each axis, the best plan with another value; and plans that do not fit in memory.
Table runners_up_table(const SearchResult& result);
Table misses_table(const std::vector<NearMiss>& misses);
// "1,200 plans considered: 900 too large for memory, ...".
std::string counts_sentence(const SearchResult& result);

// What the best plan needs at worst, and the best plan that fits even then; empty if it fits surely.
std::string surely_fitting_sentence(const SearchResult& result);
// "in all: zero 1 · schedule 1f1b": what the table leaves out, degrees of one apart, and what the
// counts in it mean.
std::string notes_of(const SearchResult& result);

// The lines of the breakdown that changed most from the winner to a slower plan; empty if none did.
struct LargestChanges {
  std::string grew;    // "+0.21 s exposed data parallel"
  std::string shrank;  // "-90.0 ms pipeline bubble", if more than a tenth as much
};
LargestChanges largest_changes(const Estimate& winner, const Estimate& other);

// Relative change of the step time, 0 if the winner takes none.
double slowdown(const Estimate& winner, const Estimate& other);

// What crosses between sites, as text and as sections of a page.
std::string across_sites_text(const AcrossSites& across, const TextStyle& style);
std::string across_sites_html(const AcrossSites& across);

// Estimates and searches as the versioned JSON documents of `orrery estimate --json` and
// `orrery search --json`. Their keys: docs/json-schema.md.
//
// Times of the breakdown are whole picoseconds written as decimal seconds with up to twelve digits
// after the point, so that the lines of `breakdown_s` add up to `step_time_s` exactly in decimal
// arithmetic, and to the last bits in binary.

// What the document shows besides the figures, if it is asked for.
struct EstimateExtras {
  std::optional<std::vector<Derivation>> explained;
  std::optional<std::vector<Sensitivity>> sensitivity;
  std::optional<StepTraffic> traffic;
  std::optional<StepFlows> flows;
  std::optional<PlanNumerics> numerics;
  std::optional<HealthyRun> run;
  std::optional<OperatorShares> operators;
};
Value estimate_json(const Estimate& estimate, const Subject& subject,
                    const EstimateExtras& extras = {});
const Description& estimate_document();
// One key of that document, without the work of the others; none if it has no such key.
std::optional<Value> estimate_json_key(const Estimate& estimate, const Subject& subject,
                                       const EstimateExtras& extras, std::string_view key);

// What a search may also be asked.
struct SearchExtras {
  std::optional<AcrossSites> sites;
  std::optional<PlanNumerics> numerics;         // of the best plan
  std::optional<std::vector<HealthyRun>> runs;  // of the plans, in their order
};
// Everything but `elapsed_s` is the same at every run and thread count.
Value search_json(const SearchResult& result, const Subject& subject, Seconds elapsed,
                  const SearchExtras& extras = {});
const Description& search_document();

// An estimate, or a search and its winner, as one HTML file that needs nothing else: no network, no
// fonts, no libraries. Light and dark scheme follow the reader's system. Without scripts everything
// but tooltips and the pipeline's zoom works.

// The search that found a step, and what else is known of it.
struct FoundBy {
  const SearchResult* search = nullptr;   // of which the step is the winner
  Seconds elapsed = {};                   // of the search; zero: not stated
  std::span<const HealthyRun> runs = {};  // of the plans of the search, or of the estimate
  const AcrossSites* sites = nullptr;
};
// Only `estimate` is needed; a part without data is left out.
struct HtmlReport {
  Subject subject;
  const Estimate* estimate = nullptr;
  std::span<const PipelineSpan> pipeline = {};
  std::span<const Derivation> derivations = {};
  FoundBy found = {};
  std::optional<StepTraffic> traffic = {};
  std::vector<OperatorShare> operators = {};  // the longest first
};

std::string html_report(const HtmlReport& report);

// The whole report of a predicted step, of which `estimate` is.
std::string step_html(const PredictedStep& step, const Estimate& estimate,
                      const FoundBy& found = {});

// An image or video that is made, predictions of such beside measured times, and the operators of a
// step (`--by operator`).

std::string generation_text(const Generation& generation, const TextStyle& style);
Value generation_json(const Generation& generation);
const Description& generation_document();

// Measured rows beside their predictions, and the errors of all.
std::string generation_errors_text(const GenerationErrors& errors, const TextStyle& style);
Value generation_errors_json(const GenerationErrors& errors);
const Description& generation_errors_document();

Table operator_table(const std::vector<OperatorShare>& operators);
// The same as text, and what attention sees from layer to layer.
std::string operators_text(const OperatorShares& shares, const TextStyle& style);

// An imported launch, as text and as the JSON of `orrery import`.

std::string launch_text(const ImportedLaunch& launch, const TextStyle& style);
Value launch_json(const ImportedLaunch& launch);
const Description& launch_document();

// The specification as a file for orrery estimate, with a comment about what was not understood.
std::string launch_yaml(const ImportedLaunch& launch);

}  // namespace orrery
