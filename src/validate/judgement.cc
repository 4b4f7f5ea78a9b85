#include "validate/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "calibrate/statistics.h"
#include "document/results.h"
#include "measured/run_convention.h"
#include "validate/step_spread.h"

namespace orrery {
namespace {

// A measured row with what was predicted of it.
struct Judged {
  const RowOutcome* row = nullptr;
  std::array<std::optional<double>, kSchemes.size()> errors;
  std::optional<int> fold;
  [[nodiscard]] const std::optional<double>& error(Scheme scheme) const {
    return errors[static_cast<std::size_t>(scheme)];
  }
  // log(measured / predicted); precondition: there is an error.
  [[nodiscard]] double log_ratio(Scheme scheme) const { return -std::log1p(*error(scheme)); }
  // That of the folds; today's where nothing was held out.
  [[nodiscard]] double held_out() const {
    return error(Scheme::five_fold).value_or(*error(Scheme::fitted));
  }
};

SchemeErrors errors_of(std::string axis, std::string name, const std::vector<const Judged*>& rows) {
  SchemeErrors out{std::move(name), std::move(axis), {}};
  for (const Scheme scheme : kSchemes) {
    std::vector<double> errors;
    for (const Judged* j : rows) {
      if (j->error(scheme)) errors.push_back(*j->error(scheme));
    }
    out.schemes[static_cast<std::size_t>(scheme)] = error_summary(errors);
  }
  return out;
}

std::vector<Judged> joined(const Validation& validation, std::span<const HeldOutStep> held_out) {
  std::map<std::string, Judged> by_row;
  for (const RowOutcome& row : validation.rows) {
    if (!row.error || !row.complete) continue;
    Judged& j = by_row[row.row_id];
    j.row = &row;
    j.errors.front() = row.error;  // "fitted" is today's model
  }
  for (const HeldOutStep& step : held_out) {
    const auto found = by_row.find(step.row_id);
    if (found == by_row.end() || step.scheme == Scheme::fitted) continue;
    Judged& j = found->second;
    j.errors[static_cast<std::size_t>(step.scheme)] = step.predicted / step.measured - 1;
    if (step.scheme == Scheme::five_fold) j.fold = step.fold;
  }
  std::vector<Judged> out;
  for (const auto& [id, judged] : by_row) out.push_back(judged);
  return out;
}

// Measured time per sequence of the plan whose held-out prediction is best, against the best.
std::vector<Regret> regrets_of(const std::vector<Judged>& rows) {
  std::map<std::string, std::vector<const Judged*>> groups;
  for (const Judged& j : rows) {
    if (j.row->sequences > 0) groups[j.row->group].push_back(&j);
  }
  std::vector<Regret> out;
  for (const auto& [group, plans] : groups) {
    if (static_cast<int>(plans.size()) < kSmallestGroup) continue;
    const auto measured = [](const Judged* j) {
      return j->row->measured->value() / j->row->sequences;
    };
    const auto predicted = [&](const Judged* j) { return measured(j) * (1 + j->held_out()); };
    const Judged* picked = plans.front();
    const Judged* best = plans.front();
    for (const Judged* j : plans) {
      if (predicted(j) < predicted(picked)) picked = j;
      if (measured(j) < measured(best)) best = j;
    }
    out.push_back({picked->row->source_id, group, static_cast<int>(plans.size()),
                   measured(picked) / measured(best) - 1, picked->row->row_id, best->row->row_id});
  }
  std::ranges::stable_sort(out, std::ranges::greater(), &Regret::regret);
  return out;
}

struct Inside {
  int rows = 0, inside = 0;
  double width = 0;
  void add(double log_ratio, const ErrorRange& range) {
    ++rows;
    inside += log_ratio >= range.low && log_ratio <= range.high;
    width += std::exp(range.high) - std::exp(range.low);
  }
  [[nodiscard]] double share() const { return rows > 0 ? static_cast<double>(inside) / rows : 0; }
  [[nodiscard]] double mean_width() const { return rows > 0 ? width / rows : 0; }
};
// Under which names a row counts. Regimes and sources of few rows count together.
class CoverageNames {
 public:
  explicit CoverageNames(const std::vector<Judged>& rows) {
    for (const Judged& j : rows) {
      rows_[j.row->regime] += 1;
      rows_["source: " + j.row->source_id] += 1;
    }
  }
  [[nodiscard]] std::vector<std::string> of(const RowOutcome& row) const {
    const auto pooled = [&](const std::string& name, std::string_view what) {
      return rows_.at(name) >= kFewestSteps
                 ? name
                 : fmt::format("{} of fewer than {} steps", what, kFewestSteps);
    };
    return {"all", row.kind, pooled(row.regime, "accelerators and scales"),
            pooled("source: " + row.source_id, "sources")};
  }

 private:
  std::map<std::string, int> rows_;
};

// What estimates would be held against if the rows of `unseen` had never been measured.
template <class Unseen>
Uncertainty known_without(const std::vector<Judged>& rows, Unseen unseen) {
  Uncertainty out;
  std::vector<LeftOutStep> errors;
  std::set<StepPoint> points;
  for (const Judged& j : rows) {
    if (unseen(j)) continue;
    points.insert(j.row->point);
    if (!j.error(Scheme::leave_one_source_out) || judged_apart(j.row->source_id)) continue;
    errors.push_back({j.row->point, j.row->shares, j.log_ratio(Scheme::leave_one_source_out)});
  }
  out.measured.assign(points.begin(), points.end());
  const StepSpread spread = spread_of(errors, out.measured, out.level);
  out.deviations = spread.deviations;
  out.low = spread.low;
  out.high = spread.high;
  return out;
}

void add_to(std::map<std::string, Inside>& out, const CoverageNames& names, const RowOutcome& row,
            double log_ratio, const Uncertainty& known) {
  const ErrorRange range = error_range(known, row.shares, row.point);
  for (const std::string& name : names.of(row)) out[name].add(log_ratio, range);
  const bool extrapolates = !extrapolation(known.measured, row.point).empty();
  out[extrapolates ? "extrapolates" : "does not extrapolate"].add(log_ratio, range);
}

// Whether each row lies in the interval that an estimate of it would have without its fold.
std::map<std::string, Inside> inside_of_folds(const std::vector<Judged>& rows,
                                              const CoverageNames& names) {
  std::set<int> folds;
  for (const Judged& j : rows) {
    if (j.fold) folds.insert(*j.fold);
  }
  std::map<std::string, Inside> out;
  for (const int fold : folds) {
    const Uncertainty known = known_without(rows, [&](const Judged& j) { return j.fold == fold; });
    for (const Judged& j : rows) {
      if (j.fold == fold) add_to(out, names, *j.row, j.log_ratio(Scheme::five_fold), known);
    }
  }
  return out;
}

// Whether each row of a source lies in the interval that an estimate of it would have if nothing of
// that source had been measured.
std::map<std::string, Inside> inside_of_sources(const std::vector<Judged>& rows,
                                                const CoverageNames& names) {
  std::set<std::string> sources;
  for (const Judged& j : rows) {
    if (j.error(Scheme::leave_one_source_out)) sources.insert(j.row->source_id);
  }
  std::map<std::string, Inside> out;
  for (const std::string& source : sources) {
    const auto of_source = [&](const Judged& j) { return j.row->source_id == source; };
    const Uncertainty known = known_without(rows, of_source);
    for (const Judged& j : rows) {
      if (of_source(j) && j.error(Scheme::leave_one_source_out)) {
        add_to(out, names, *j.row, j.log_ratio(Scheme::leave_one_source_out), known);
      }
    }
  }
  return out;
}

std::vector<Coverage> coverages_of(const std::vector<Judged>& rows) {
  const CoverageNames names(rows);
  std::map<std::string, Inside> folds = inside_of_folds(rows, names);
  const std::map<std::string, Inside> sources = inside_of_sources(rows, names);
  for (const auto& [name, of] : sources) folds.try_emplace(name);
  std::vector<Coverage> out;
  for (const auto& [name, of] : folds) {
    Coverage c{name, of.rows, of.share(), of.mean_width()};
    if (const auto found = sources.find(name); found != sources.end()) {
      const Inside& left_out = found->second;
      c.left_out_rows = left_out.rows;
      c.left_out_inside = left_out.share();
      c.left_out_width = left_out.mean_width();
    }
    out.push_back(std::move(c));
  }
  return out;
}

std::string scale_of(std::int64_t n) {
  return n <= 8 ? "1 to 8" : n <= 64 ? "9 to 64" : n <= 512 ? "65 to 512" : "above 512";
}

// Spearman's correlation on held-out predictions, weighted by rows of a group.
std::optional<double> ranking(const std::vector<Judged>& rows, const std::string& source) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> groups;
  for (const Judged& j : rows) {
    if (j.row->source_id != source || j.row->sequences <= 0) continue;
    const double measured = j.row->measured->value() / j.row->sequences;
    auto& [predicted, truth] = groups[j.row->group];
    predicted.push_back(measured * (1 + j.held_out()));
    truth.push_back(measured);
  }
  double sum = 0;
  double weight = 0;
  for (const auto& [name, pair] : groups) {
    if (static_cast<int>(pair.first.size()) < kSmallestGroup) continue;
    const auto correlation = rank_correlation(pair.first, pair.second);
    if (!correlation) continue;
    sum += *correlation * static_cast<double>(pair.first.size());
    weight += static_cast<double>(pair.first.size());
  }
  if (weight == 0) return std::nullopt;
  return sum / weight;
}

void add_figures(Judgement& out, const Validation& validation, const std::vector<Judged>& rows) {
  const auto add = [&](std::string name, double value, std::optional<double> target,
                       bool more_is_better = false) {
    out.figures.push_back({std::move(name), value, target, more_is_better});
  };
  const ErrorSummary& left_out = out.all.of(Scheme::leave_one_source_out);
  const ErrorSummary& folds = out.all.of(Scheme::five_fold);
  if (left_out.rows > 0) {
    add("step time, source left out, by row, median", left_out.median, 0.055);
    add("step time, source left out, by row, mean", left_out.mean, std::nullopt);
    add("step time, source left out, by row, 90th percentile", left_out.p90, std::nullopt);
    double worst = 0;
    for (const SchemeErrors& s : out.parts) {
      const ErrorSummary& e = s.of(Scheme::leave_one_source_out);
      if (s.axis != "source" || judged_apart(s.name) || e.rows < kSmallSource) continue;
      worst = std::max(worst, e.median);
    }
    if (const auto all = error_by_source(out.parts, Scheme::leave_one_source_out)) {
      add("step time, source left out, by source", *all, 0.065);
      add("step time, source left out, worst source's median", worst, 0.11);
    }
  }
  if (folds.rows > 0) {
    add("step time, model left out, median", folds.median, 0.05);
    add("step time, model left out, mean", folds.mean, 0.08);
    add("step time, model left out, 90th percentile", folds.p90, 0.16);
    for (const SchemeErrors& s : out.parts) {
      if (s.axis != "model" || s.name != kMixture) continue;
      add("step time, model left out, mixtures of experts, median", s.of(Scheme::five_fold).median,
          0.1);
    }
  }
  if (const ErrorSummary& fitted = out.all.of(Scheme::fitted); fitted.rows > 0) {
    add("step time, fitted, median", fitted.median, std::nullopt);
    add("step time, fitted, mean", fitted.mean, std::nullopt);
  }
  for (const SourceFigure& f : source_figures()) {
    const auto of_source = [&](const auto& r) { return r.source_id == f.source_id; };
    const auto source = std::ranges::find_if(validation.sources, of_source);
    if (f.figure == "rank_correlation") {
      if (const auto r = ranking(rows, f.source_id)) {
        add("rank correlation of plans, " + f.source_id, *r, f.target, true);
      }
    } else if (f.figure == "regret") {
      // The worst group stands first.
      const auto worst = std::ranges::find_if(out.regrets, of_source);
      if (worst == out.regrets.end()) continue;
      add("regret of the picked plan, " + f.source_id + ", worst group", worst->regret, f.target);
    } else if (source == validation.sources.end()) {
      continue;
    } else if (f.figure == "memory") {
      if (source->memory.rows > 0) {
        add("memory, mean, " + f.source_id, source->memory.mean, f.target);
      }
    } else {
      const VerdictCounts& c = source->verdicts;
      const int tight = c.ran_tight + c.out_of_memory_tight;
      const int all = c.ran() + c.out_of_memory();
      if (f.figure == "verdicts_unsure" && all > 0) {
        add("memory verdicts that are unsure, " + f.source_id, static_cast<double>(tight) / all,
            f.target);
      } else if (f.figure == "verdicts_right" && all > tight) {
        const int right = c.ran_fits - c.ran_tight + c.out_of_memory_does_not_fit;
        add("memory verdicts that are right, " + f.source_id,
            static_cast<double>(right) / (all - tight), f.target, true);
      }
    }
  }
}

Value scheme_json(const SchemeErrors& s) {
  Value out = map_of({{"axis", s.axis}, {"name", s.name}});
  for (const Scheme scheme : kSchemes) {
    std::string key(to_text(scheme));
    std::ranges::replace(key, '-', '_');
    out.set(key, value_of(s.of(scheme), ErrorKeys::spelled_out));
  }
  return out;
}

}  // namespace

std::optional<double> error_by_source(const std::vector<SchemeErrors>& parts, Scheme scheme) {
  double sum = 0;
  int sources = 0;
  for (const SchemeErrors& s : parts) {
    const ErrorSummary& e = s.of(scheme);
    if (s.axis != "source" || judged_apart(s.name) || e.rows < kSmallSource) continue;
    sum += e.median;
    ++sources;
  }
  if (sources == 0) return std::nullopt;
  return sum / sources;
}

Judgement judged(const Validation& validation, std::span<const HeldOutStep> held_out) {
  const std::vector<Judged> rows = joined(validation, held_out);
  Judgement out;
  std::vector<const Judged*> all;
  std::map<std::pair<std::string, std::string>, std::vector<const Judged*>> parts;
  for (const Judged& j : rows) {
    const RowOutcome& r = *j.row;
    parts[{"source", r.source_id}].push_back(&j);
    if (judged_apart(r.source_id)) {
      out.apart.insert(r.source_id);
      continue;
    }
    all.push_back(&j);
    parts[{"accelerator", r.accelerator}].push_back(&j);
    parts[{"scale", scale_of(r.accelerators)}].push_back(&j);
    parts[{"precision", r.precision}].push_back(&j);
    parts[{"model", r.kind}].push_back(&j);
    parts[{"framework", r.framework.empty() ? "not stated" : r.framework}].push_back(&j);
  }
  out.all = errors_of(
      "all", out.apart.empty() ? "all" : fmt::format("all but {}", fmt::join(out.apart, ", ")),
      all);
  for (const Judged& j : rows) {
    const Seconds measured = *j.row->measured;
    out.points.push_back(
        {j.row->row_id, j.row->accelerator, measured, measured * (1 + j.held_out())});
  }
  for (const auto& [key, of] : parts) out.parts.push_back(errors_of(key.first, key.second, of));
  out.regrets = regrets_of(rows);
  for (Coverage& c : coverages_of(rows)) {
    if (c.regime == "all") {
      out.coverage = c;
    } else {
      out.coverages.push_back(std::move(c));
    }
  }
  add_figures(out, validation, rows);
  return out;
}

std::string figures_text(std::span<const Figure> figures) {
  std::string out = "figure,value\n";
  for (const Figure& f : figures) out += fmt::format("\"{}\",{:.4f}\n", f.name, f.value);
  return out;
}

Value judgement_json(const Judgement& j) {
  const auto regret = [](const Regret& r) {
    return map_of({{"group", r.group},
                   {"plans", r.plans},
                   {"regret", r.regret},
                   {"picked", r.picked},
                   {"best", r.best}});
  };
  const auto figure = [](const Figure& f) {
    return map_of({{"figure", f.name}, {"value", f.value}, {"target", f.target}, {"met", f.met()}});
  };
  const Coverage& c = j.coverage;
  return map_of({{"all", scheme_json(j.all)},
                 {"parts", list_of(j.parts, scheme_json)},
                 {"regrets", list_of(j.regrets, regret)},
                 {"interval_coverage", map_of({{"rows", c.rows},
                                               {"inside", c.inside},
                                               {"mean_width", c.width},
                                               {"left_out_rows", c.left_out_rows},
                                               {"left_out_inside", c.left_out_inside},
                                               {"left_out_mean_width", c.left_out_width}})},
                 {"figures", list_of(j.figures, figure)}});
}

}  // namespace orrery
