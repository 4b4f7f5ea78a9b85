// Predictions beside measurements: how wrong the model is, row by row and in sum.
//
//   error = predicted step time / measured step time - 1
//
// A row enters the step-time statistics if it ran and states a step time; the memory statistics if
// it states its memory per GPU; the verdicts if it is known to have run or to have run out of
// memory. Rows nobody can express are kept with the reason. Nothing is fitted here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/error_summary.h"
#include "catalog/catalog.h"
#include "cost/memory/memory.h"
#include "document/value.h"
#include "estimate/uncertainty.h"
#include "measured/measured_row.h"
#include "measured/run_convention.h"
#include "units/quantity.h"

namespace orrery {

// The same for plans of one model on one cluster.
std::string group_of(const MeasuredRow& row);

struct RowOutcome {
  std::string row_id, source_id, model;
  std::string plan;   // short text form; empty if skipped before there was one
  std::string place;  // "file.csv:12"
  // A training step, of which nothing that an estimate needs is missing, and which states its time.
  bool complete = false;
  bool out_of_memory = false;  // the source reports that it ran out of memory
  std::optional<Seconds> predicted, measured;
  std::optional<double> error;               // of the step time, relative
  std::optional<StepTimeInterval> interval;  // of the prediction; none without an uncertainty
  std::optional<ByteCount> predicted_memory, measured_memory, memory_capacity;
  std::optional<double> memory_error;  // relative
  std::optional<bool> fits;            // predicted
  bool tight = false;                  // predicted to fit only if the allocator wastes little
  std::string accelerator, precision, framework;
  std::string software;  // the profile it was estimated with; empty if skipped before
  std::int64_t accelerators = 0;
  std::string kind;                   // of the model
  std::string regime;                 // "hopper, to 64", of an estimated row
  StepPoint point;                    // the same
  StepShares shares;                  // the same
  std::string skipped_because;        // empty if estimated
  bool impossible = false;            // skipped, for what it states cannot be or be understood
  std::vector<std::string> assumed;   // for cells the source leaves empty, in words
  std::vector<std::string> defaults;  // what the estimate itself filled in

  // Rows with the same key are plans of one model on one cluster; their step times divided by
  // their global batches can be ranked.
  std::string group;
  double sequences = 0;  // global batch
};

// Of the rows that have this error.
ErrorSummary error_summary(const std::vector<const RowOutcome*>& rows,
                           std::optional<double> RowOutcome::* error);

// How often the memory verdict agreed. "tight" counts as fitting, and is also counted apart.
struct VerdictCounts {
  int ran_tight = 0, out_of_memory_tight = 0;
  int ran_fits = 0, ran_does_not_fit = 0;
  int out_of_memory_fits = 0, out_of_memory_does_not_fit = 0;
  [[nodiscard]] int ran() const { return ran_fits + ran_does_not_fit; }
  [[nodiscard]] int out_of_memory() const {
    return out_of_memory_fits + out_of_memory_does_not_fit;
  }
};

// Rank correlation of predicted and measured time per sequence among plans of one model and
// cluster, over groups of kSmallestGroup or more rows.
struct RankSummary {
  int groups = 0;
  int rows = 0;
  double median = 0;
  double mean = 0;  // weighted by rows
  double worst = 0;
  std::string worst_group;
};
inline constexpr int kSmallestGroup = 5;

struct SourceSummary {
  std::string source_id;  // "all" for the sum
  int rows = 0;           // in the files
  int complete = 0;
  int complete_estimated = 0;
  int skipped = 0;
  ErrorSummary step_time;
  ErrorSummary memory;
  VerdictCounts verdicts;
  RankSummary ranking;
};

struct SkipCount {
  std::string because;
  int rows = 0;
  int complete = 0;  // of them: rows that state everything an estimate needs
};

// One assumption, and the estimated rows it was made for.
struct AssumptionCount {
  std::string text;
  int rows = 0;
};

struct Validation {
  std::vector<RowOutcome> rows;  // in the order given
  SourceSummary overall;
  std::vector<SourceSummary> sources;        // by name
  std::vector<SkipCount> skipped;            // most complete rows first
  std::vector<AssumptionCount> assumptions;  // most rows first
};

// Estimates every row it can, on so many threads (0: all cores); the result does not depend on how
// many they are. `software`: the profile of rows whose source and framework are unknown.
Validation validate(const std::vector<MeasuredRow>& rows, const Catalog& catalog, int threads = 0,
                    std::string_view software = kUsualSoftware);

// The statistics of outcomes; sets `error`, `memory_error` and everything but `rows`.
Validation summarised(std::vector<RowOutcome> rows);

inline constexpr int kValidationSchemaVersion = 1;

// The document of `orrery validate --json`: `rows` and `summary`.
Value validation_json(const Validation& validation);

}  // namespace orrery
