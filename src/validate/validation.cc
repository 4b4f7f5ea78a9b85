#include "validate/validation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "calibrate/statistics.h"
#include "document/results.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "measured/scenario_of_row.h"
#include "parallel/parallel_for.h"
#include "validate/impossible_measurement.h"
#include "validate/wrong_cells.h"

namespace orrery {
namespace {

std::string number(const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "?"; }

}  // namespace

std::string group_of(const MeasuredRow& row) {
  return row.source_id + ": " + row.model + ", " + number(row.num_layers) + " layers of " +
         number(row.hidden) + ", " + number(row.num_heads) + " heads, sequence " +
         number(row.seq_len) + ", " + row.precision + ", " + row.accelerator + ":" +
         number(row.num_gpus);
}

namespace {

// The prediction of what the row measured: memory allocated, memory the framework's allocator
// reserved, or all that a GPU has in use. The last two are those of an allocator that gives nothing
// back until it must.
ByteCount as_measured(const Estimate& e, const std::string& kind) {
  ByteCount most = 0;
  for (const StageReport& stage : e.stages) {
    const MemoryReport& m = stage.memory;
    const ByteCount cached = std::min(m.pessimistic, std::max(e.memory_capacity, m.peak));
    const bool whole_device = kind.find("nvidia-smi") != std::string::npos;
    const bool allocated = kind.find("allocated") != std::string::npos;
    most = std::max(most, allocated ? m.allocated() : whole_device ? cached : cached - m.outside);
  }
  return most;
}

std::string regime_of(const Cluster& cluster) {
  const std::int64_t n = cluster.accelerators;
  return cluster.accelerator.architecture + (n <= cluster.accelerators_per_node ? ", one node"
                                             : n <= 64                          ? ", to 64"
                                             : n <= 512                         ? ", to 512"
                                                                                : ", above 512");
}

RowOutcome outcome_of(const MeasuredRow& row, const Catalog& catalog, std::string_view software,
                      const Result<Uncertainty>& uncertainty) {
  RowOutcome out;
  out.row_id = row.row_id;
  out.source_id = row.source_id.empty() ? "unnamed" : row.source_id;
  out.model = row.model;
  out.place = row.place();
  out.complete = row.missing.empty() && row.step_time.has_value() && row.phase != "layer";
  out.out_of_memory = row.status == "oom";
  out.group = group_of(row);
  out.sequences = static_cast<double>(row.global_batch.value_or(0));
  out.accelerator = row.accelerator;
  out.precision = row.precision;
  out.framework = row.framework;
  out.accelerators = row.num_gpus.value_or(0);
  if (!out.out_of_memory) out.measured = row.step_time;
  // A petabyte and more is a typing error that would overflow the count of bytes.
  if (row.memory_per_gpu && *row.memory_per_gpu >= Bytes(1) && *row.memory_per_gpu < Bytes(1e15) &&
      !out.out_of_memory) {
    out.measured_memory = static_cast<ByteCount>(std::llround(row.memory_per_gpu->value()));
  }
  if (std::string wrong = wrong_cells(row, catalog); !wrong.empty()) {
    out.skipped_because = std::move(wrong);
    out.impossible = true;
    return out;
  }
  auto scenario = scenario_of_row(row, catalog, software);
  if (!scenario) {
    out.skipped_because = scenario.error().because;
    out.impossible = scenario.error().wrong;
    return out;
  }
  if (std::string why = impossible_measurement(row, scenario->scenario); !why.empty()) {
    out.skipped_because = std::move(why);
    out.impossible = true;
    return out;
  }
  out.plan = to_text(scenario->scenario.plan);
  out.software = scenario->scenario.software.name;
  out.assumed = std::move(scenario->assumed);
  const auto step = predict(scenario->scenario, catalog);
  if (!step) {
    out.skipped_because = step.error().text();
    out.impossible = step.error().code == ErrorCode::bad_input;
    return out;
  }
  Estimate predicted = estimate(*step);
  out.predicted = predicted.step_time;
  out.shares = shares_of(predicted.breakdown);
  if (uncertainty) {
    out.interval = interval(*uncertainty, predicted.step_time, out.shares, step->model(),
                            step->cluster(), predicted.training, predicted.software);
  }
  out.predicted_memory = as_measured(predicted, row.memory_kind);
  out.memory_capacity = predicted.memory_capacity;
  out.fits = predicted.verdict != Verdict::does_not_fit;
  out.tight = predicted.verdict == Verdict::tight;
  out.kind = kind_of(scenario->scenario.model);
  out.regime = regime_of(scenario->scenario.cluster);
  out.point = point_of(scenario->scenario.model, scenario->scenario.cluster,
                       scenario->scenario.training, scenario->scenario.software.name);
  out.point.source = row.source_id;
  out.defaults = std::move(predicted.assumed);
  std::erase_if(out.defaults, [&](const std::string& text) {
    return std::ranges::find(out.assumed, text) != out.assumed.end();
  });
  return out;
}

void set_errors(RowOutcome& row) {
  if (!row.skipped_because.empty()) return;
  if (row.predicted && row.measured) row.error = *row.predicted / *row.measured - 1;
  if (row.predicted_memory && row.measured_memory) {
    row.memory_error =
        static_cast<double>(*row.predicted_memory) / static_cast<double>(*row.measured_memory) - 1;
  }
}

}  // namespace

ErrorSummary error_summary(const std::vector<const RowOutcome*>& rows,
                           std::optional<double> RowOutcome::* error) {
  std::vector<double> errors;
  std::vector<std::string> names;
  for (const RowOutcome* row : rows) {
    if (!(row->*error)) continue;
    errors.push_back(*(row->*error));
    names.push_back(row->row_id);
  }
  return error_summary(errors, names);
}

namespace {

VerdictCounts verdicts_of(const std::vector<const RowOutcome*>& rows) {
  VerdictCounts out;
  for (const RowOutcome* row : rows) {
    if (!row->fits || !row->skipped_because.empty()) continue;
    if (row->out_of_memory) {
      ++(*row->fits ? out.out_of_memory_fits : out.out_of_memory_does_not_fit);
      out.out_of_memory_tight += row->tight;
    } else {
      ++(*row->fits ? out.ran_fits : out.ran_does_not_fit);
      out.ran_tight += row->tight;
    }
  }
  return out;
}

RankSummary ranking_of(const std::vector<const RowOutcome*>& rows) {
  struct Pairs {
    std::vector<double> predicted, measured;
  };
  std::map<std::string, Pairs> groups;
  for (const RowOutcome* row : rows) {
    if (!row->error || row->sequences <= 0) continue;
    Pairs& pairs = groups[row->group];
    pairs.predicted.push_back(row->predicted->value() / row->sequences);
    pairs.measured.push_back(row->measured->value() / row->sequences);
  }
  RankSummary out;
  std::vector<double> correlations;
  double weighted = 0;
  for (const auto& [name, pairs] : groups) {
    if (static_cast<int>(pairs.predicted.size()) < kSmallestGroup) continue;
    const auto correlation = rank_correlation(pairs.predicted, pairs.measured);
    if (!correlation) continue;
    if (correlations.empty() || *correlation < out.worst) {
      out.worst = *correlation;
      out.worst_group = name;
    }
    correlations.push_back(*correlation);
    out.rows += static_cast<int>(pairs.predicted.size());
    weighted += *correlation * static_cast<double>(pairs.predicted.size());
  }
  out.groups = static_cast<int>(correlations.size());
  if (out.groups > 0) {
    out.median = quantile(correlations, 0.5);
    out.mean = weighted / static_cast<double>(out.rows);
  }
  return out;
}

SourceSummary source_summary(std::string name, const std::vector<const RowOutcome*>& rows) {
  SourceSummary out;
  out.source_id = std::move(name);
  out.rows = static_cast<int>(rows.size());
  for (const RowOutcome* row : rows) {
    const bool skipped = !row->skipped_because.empty();
    out.complete += row->complete;
    out.complete_estimated += row->complete && !skipped;
    out.skipped += skipped;
  }
  out.step_time = error_summary(rows, &RowOutcome::error);
  out.memory = error_summary(rows, &RowOutcome::memory_error);
  out.verdicts = verdicts_of(rows);
  out.ranking = ranking_of(rows);
  return out;
}

Value source_json(const SourceSummary& s) {
  const VerdictCounts& verdicts = s.verdicts;
  Value ranking = map_of({{"groups", s.ranking.groups}, {"rows", s.ranking.rows}});
  if (s.ranking.groups > 0) {
    ranking.set("median_correlation", Value::number(s.ranking.median));
    ranking.set("mean_correlation", Value::number(s.ranking.mean));
    ranking.set("worst_correlation", Value::number(s.ranking.worst));
    ranking.set("worst_group", Value::text(s.ranking.worst_group));
  }
  return map_of({{"source_id", s.source_id},
                 {"rows", s.rows},
                 {"complete", s.complete},
                 {"complete_estimated", s.complete_estimated},
                 {"skipped", s.skipped},
                 {"step_time", value_of(s.step_time, ErrorKeys::spelled_out)},
                 {"memory", value_of(s.memory, ErrorKeys::spelled_out)},
                 {"memory_verdicts",
                  map_of({{"ran_fits", verdicts.ran_fits},
                          {"ran_does_not_fit", verdicts.ran_does_not_fit},
                          {"ran_tight", verdicts.ran_tight},
                          {"out_of_memory_fits", verdicts.out_of_memory_fits},
                          {"out_of_memory_does_not_fit", verdicts.out_of_memory_does_not_fit},
                          {"out_of_memory_tight", verdicts.out_of_memory_tight}})},
                 {"rank_correlation", ranking}});
}

// Null of nothing.
Value text_value(const std::string& text) {
  return text.empty() ? Value::null() : Value::text(text);
}

Value row_json(const RowOutcome& row) {
  const std::optional<StepTimeInterval>& i = row.interval;
  std::vector<std::string> assumed = row.assumed;
  assumed.insert(assumed.end(), row.defaults.begin(), row.defaults.end());
  return map_of(
      {{"row_id", row.row_id},
       {"source_id", row.source_id},
       {"plan", text_value(row.plan)},
       {"software", text_value(row.software)},
       {"predicted_step_time_s", row.predicted},
       {"step_time_interval_s", i ? map_of({{"low", i->low}, {"high", i->high}}) : Value::null()},
       {"extrapolates", i ? std::optional(i->extrapolates) : std::nullopt},
       {"measured_step_time_s", row.measured},
       {"step_time_error", row.error},
       {"predicted_memory_bytes", row.predicted_memory},
       {"measured_memory_bytes", row.measured_memory},
       {"fits", row.fits},
       {"tight", row.fits ? std::optional(row.tight) : std::nullopt},
       {"ran_out_of_memory", row.out_of_memory},
       {"skipped_because", text_value(row.skipped_because)},
       {"assumed", assumed}});
}

}  // namespace

Validation validate(const std::vector<MeasuredRow>& rows, const Catalog& catalog, int threads,
                    std::string_view software) {
  std::vector<RowOutcome> outcomes(rows.size());
  const Result<Uncertainty> uncertainty = load_uncertainty(catalog);
  parallel_for(rows.size(), threads_to_use(threads), [&](std::size_t i) {
    outcomes[i] = outcome_of(rows[i], catalog, software, uncertainty);
  });
  return summarised(std::move(outcomes));
}

Validation summarised(std::vector<RowOutcome> rows) {
  Validation out;
  out.rows = std::move(rows);
  std::vector<const RowOutcome*> all;
  std::map<std::string, std::vector<const RowOutcome*>> by_source;
  std::map<std::string, SkipCount> reasons;
  std::map<std::string, int> assumptions;
  for (RowOutcome& row : out.rows) {
    set_errors(row);
    all.push_back(&row);
    by_source[row.source_id].push_back(&row);
    if (row.skipped_because.empty()) {
      for (const std::string& text : row.assumed) ++assumptions[text];
      continue;
    }
    SkipCount& reason = reasons[row.skipped_because];
    reason.because = row.skipped_because;
    ++reason.rows;
    reason.complete += row.complete;
  }
  out.overall = source_summary("all", all);
  for (const auto& [name, of_source] : by_source) {
    out.sources.push_back(source_summary(name, of_source));
  }
  for (auto& [because, reason] : reasons) out.skipped.push_back(std::move(reason));
  std::ranges::stable_sort(out.skipped, [](const SkipCount& a, const SkipCount& b) {
    return std::pair(a.complete, a.rows) > std::pair(b.complete, b.rows);
  });
  for (const auto& [text, count] : assumptions) out.assumptions.push_back({text, count});
  std::ranges::stable_sort(out.assumptions, std::ranges::greater(), &AssumptionCount::rows);
  return out;
}

Value validation_json(const Validation& validation) {
  const auto reason = [](const SkipCount& r) {
    return map_of({{"because", r.because}, {"rows", r.rows}, {"complete", r.complete}});
  };
  Value summary = source_json(validation.overall);
  summary.set("sources", list_of(validation.sources, source_json));
  summary.set("skipped_because", list_of(validation.skipped, reason));
  return map_of({{"schema_version", kValidationSchemaVersion},
                 {"rows", list_of(validation.rows, row_json)},
                 {"summary", summary}});
}

}  // namespace orrery
