// What is asked of a forecast: the section `forecast` of a specification, which options of the
// command line add to.
//
//   forecast:
//     tokens: 15.6T                    # or steps
//     failures: meta-rsc-1             # orrery catalog failures
//     restart: bytedance               # orrery catalog restarts
//     checkpoint: {interval: 30 min, mode: asynchronous, bandwidth: 2 TB/s}
//     evaluation: {every: 1000, time: 12 min}
//     spares: 16
//     within: 60 days                  # or start: 2026-12-01 and by: 2027-03-01
//     phases:                          # the last one lasts until the run ends
//       - {tokens: 252e6, global_batch: 1024, sequence_length: 4096}
//       - {}
//     planned: {every: 27 h, time: {mean: 20 min}}
//     step_at: p95                     # of the distribution that `step` describes
//     step: {variability: prism, exceeds: 20 s}   # without tokens and steps: of the step alone
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/fields.h"
#include "forecast/checkpoint.h"
#include "forecast/failure_rates.h"
#include "forecast/step_distribution.h"
#include "forecast/time_law.h"

namespace orrery {

struct EvaluationPauses {
  std::int64_t every = 0;  // steps
  Seconds time;
  bool operator==(const EvaluationPauses&) const = default;
};
Fields<EvaluationPauses> fields_of(const EvaluationPauses*);

// A stretch of steps; what it does not state is as in the rest of the specification. All but the
// last state one of tokens, steps and share.
struct RunPhase {
  std::string name;
  std::string tokens;
  std::optional<std::int64_t> steps;
  std::optional<double> share;  // of the run
  std::optional<std::int64_t> global_batch;
  std::optional<std::int64_t> sequence_length;
  std::string plan;  // settings over those of the plan: "cp=16,dp=8"
  bool operator==(const RunPhase&) const = default;
};
Fields<RunPhase> fields_of(const RunPhase*);

// Sequences of the first batch and of each increment, and the tokens until the whole batch.
struct BatchRamp {
  std::int64_t from = 0;
  std::int64_t by = 0;
  std::string over;
  bool operator==(const BatchRamp&) const = default;
};
Fields<BatchRamp> fields_of(const BatchRamp*);

struct PlannedQuestion {
  std::optional<Seconds> every;  // empty: as often as in the run of the failure rates
  TimeLaw time;
  bool operator==(const PlannedQuestion&) const = default;
};
Fields<PlannedQuestion> fields_of(const PlannedQuestion*);

struct ElasticQuestion {
  double least = 1;  // of the data-parallel replicas
  bool operator==(const ElasticQuestion&) const = default;
};
Fields<ElasticQuestion> fields_of(const ElasticQuestion*);
// How long every step of a run takes: as predicted, or what its distribution says of steps on
// machines that differ.
enum class StepOfRun { predicted, mean, p95 };

struct RunQuestion {
  std::string tokens;          // "15.6T", "300B"
  std::optional<double> loss;  // in place of tokens: those that reach it
  std::string law;             // of the catalog; empty: of a loss the usual one
  std::string routing;         // what experts are worth, of the catalog; empty: the active ones
  std::optional<std::int64_t> steps;
  std::string failures = "meta-llama-3";  // of the catalog
  std::string restart = "bytedance";      // of the catalog
  CheckpointPolicy checkpoint;
  std::optional<EvaluationPauses> evaluation;
  std::optional<TimeLaw> queue;  // at the start and after each failure
  std::optional<std::int64_t> spares;
  std::optional<TimeLaw> repair;  // of a node, where there are spares
  std::vector<RunPhase> phases;   // empty: all steps are alike
  std::optional<BatchRamp> batch_ramp;
  std::optional<PlannedQuestion> planned;
  std::optional<FailingRacks> racks;  // empty: those of the failure rates
  std::optional<ElasticQuestion> elastic;
  std::optional<Seconds> within;  // how likely the run ends by then
  std::string start;              // a date, "2026-12-01"
  std::string by;                 // how likely the run ends before this date, in place of `within`
  std::string budget;             // how likely the run costs no more: "10M$"
  std::string price;              // of the catalog, or "2.95 $/h"; empty: the median
  double pue = 1;                 // power of the site over that of the accelerators
  std::optional<double> carbon;   // grams of CO2 a kWh
  std::int64_t runs = 10'000;
  std::uint64_t seed = 1;
  StepOfRun step_at = StepOfRun::predicted;
  StepQuestion step;  // how its time varies
  bool operator==(const RunQuestion&) const = default;
};
Fields<RunQuestion> fields_of(const RunQuestion*);

inline constexpr std::int64_t kMostPhases = 100;
inline constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;
inline constexpr std::int64_t kMostRuns = 1'000'000;
inline constexpr double kMostCarbon = 1e6;  // burning coal gives about 1,000

// Errors: not exactly one of tokens, steps and loss; probabilities, times, dates and factors that cannot
// be.
Result<void> check(const RunQuestion& question);

// "10M$" is 10e6 dollars, "2.5B$" 2.5e9. Errors: not an amount of 1 to 1e15 dollars.
Result<Dollars> parse_budget(std::string_view text);

// "15.6T" is 15.6e12, "300B" is 300e9; a plain number is one. Errors: not a number of 1 to 1e18.
Result<double> parse_tokens(std::string_view text);

bool has_length(const RunQuestion& question);  // tokens, steps or a loss
bool has_phases(const RunQuestion& question);  // or a ramp, which is a list of them

// "2026-12-01", and back. Errors: no date of the years 1970 to 2199.
Result<std::chrono::sys_days> parse_date(std::string_view text);
std::string date_text(std::chrono::sys_days date);

// The time that a checked question asks about, from the first moment of `start` to that of `by`.
std::optional<Seconds> time_allowed(const RunQuestion& question);

}  // namespace orrery
