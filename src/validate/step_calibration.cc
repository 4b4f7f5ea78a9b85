#include "validate/step_calibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "calibrate/folds.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "measured/run_convention.h"
#include "measured/scenario_of_row.h"
#include "model/model.h"
#include "parallel/parallel_for.h"
#include "validate/baselines.h"
#include "validate/impossible_measurement.h"
#include "validate/step_spread.h"

namespace orrery {
namespace {

constexpr int kRounds = 6;
struct CrossValidated {
  std::vector<int> fold;                        // of the five
  std::vector<double> five_fold;                // log(predicted)
  std::vector<int> source;                      // its number
  std::vector<std::optional<double>> left_out;  // log(predicted), as are those below
  // Of sources left out: without a model, and without a fit.
  std::vector<std::optional<double>> constant_rate, nearest_steps, prior_means;
};

Result<CrossValidated> cross_validated(const StepFit& fit, const StepExpansion& expansion,
                                       int folds) {
  const std::vector<MeasuredStep>& steps = fit.steps();
  const auto held_out = [&](std::span<const std::size_t> fitted,
                            std::span<const std::size_t> held) -> Result<std::vector<double>> {
    ORRERY_TRY(const std::vector<double> x, fit.refit(expansion, fitted));
    return fit.predict(x, held);
  };
  CrossValidated out;
  std::vector<std::string> keys;
  std::map<std::string, std::vector<std::size_t>> of_source;
  std::vector<BaselineStep> baselines;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    keys.push_back(steps[i].key);
    of_source[steps[i].source_id].push_back(i);
    baselines.push_back(baseline_step(steps[i].scenario, steps[i].measured));
  }
  out.fold = fold_of_each(keys, folds);
  ORRERY_TRY(out.five_fold, predict_held_out(out.fold, held_out));

  out.source.assign(steps.size(), 0);
  for (auto* scheme : {&out.left_out, &out.constant_rate, &out.nearest_steps, &out.prior_means}) {
    scheme->resize(steps.size());
  }
  std::vector<double> expected;
  for (const StepCoordinate& c : fit.problem().coordinates()) expected.push_back(c.expected);
  int number = 0;
  for (const auto& [source, held] : of_source) {
    if (held.size() == steps.size()) continue;
    std::vector<std::size_t> fitted;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].source_id != source) fitted.push_back(i);
    }
    ORRERY_TRY(const std::vector<double> predicted, held_out(fitted, held));
    ORRERY_TRY(const std::vector<double> unfitted, fit.predict(expected, held));
    for (std::size_t k = 0; k < held.size(); ++k) {
      const std::size_t i = held[k];
      out.left_out[i] = predicted[k];
      out.prior_means[i] = unfitted[k];
      out.constant_rate[i] = constant_rate(baselines, fitted, baselines[i]);
      out.nearest_steps[i] = nearest_steps(baselines, fitted, baselines[i]);
      out.source[i] = number;
    }
    ++number;
  }
  return out;
}

// Of the steps that `shown` picks and `predicted` has.
ErrorSummary errors_of(const std::vector<MeasuredStep>& steps,
                       const std::vector<std::optional<double>>& log_predicted,
                       const std::string& source) {
  std::vector<double> predicted;
  std::vector<double> measured;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool shown =
        source.empty() ? !judged_apart(steps[i].source_id) : steps[i].source_id == source;
    if (!shown || !log_predicted[i]) continue;
    predicted.push_back(std::exp(*log_predicted[i]));
    measured.push_back(steps[i].measured.value());
  }
  return fit_errors(predicted, measured);
}

std::vector<std::optional<double>> known(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

CalibratedPart part_of(std::string name, const StepFit& fit, const StepFit::Solution& solution,
                       const std::vector<std::optional<double>>* held_out) {
  CalibratedPart out;
  out.name = std::move(name);
  out.parameters = solution.fit.parameters;
  const auto fitted = known(solution.expansion.log_predicted);
  out.in_sample = errors_of(fit.steps(), fitted, "");
  if (held_out != nullptr) out.held_out = errors_of(fit.steps(), *held_out, "");
  std::set<std::string> sources;
  for (const MeasuredStep& s : fit.steps()) sources.insert(s.source_id);
  for (const std::string& source : sources) {
    PartOfRows part{source, errors_of(fit.steps(), fitted, source), std::nullopt};
    if (held_out != nullptr) part.held_out = errors_of(fit.steps(), *held_out, source);
    out.of_which.push_back(std::move(part));
  }
  return out;
}

// Rounded as it is printed, so that what is judged is what is stored.
double rounded(double x) { return std::round(x * 1e4) / 1e4; }

std::string training_text(const StepFit& fit, const StepFit::Solution& solution,
                          const ErrorSummary& errors, const std::string& date) {
  TrainingConditions out = fit.problem().conditions(solution.fit.values());
  std::map<std::string, double> accelerators;
  std::map<std::string, double> networks;
  std::map<std::pair<AttentionKernel, std::string>, double> attention;
  for (const MeasuredStep& s : fit.steps()) {
    const Cluster& c = s.scenario.cluster;
    accelerators[c.accelerator.name] += 1;
    attention[{s.scenario.plan.attention, c.accelerator.architecture}] += 1;
    for (std::size_t l = 1; l < c.levels.size(); ++l) {
      networks[std::string(technology_of(c.levels[l]))] += 1;
    }
  }
  out.source =
      "orrery calibrate on the complete rows of validation/measured (its README.md names the "
      "sources); priors and equations in step_problem and step_fit";
  out.fit = {.data = "validation/measured",
             .date = date,
             .rows = static_cast<double>(fit.steps().size()),
             .median_error = rounded(errors.median),
             .p90_error = rounded(errors.p90)};
  out.kernel_gap = Seconds(std::round(out.kernel_gap.value() * 1e9) / 1e9);
  out.rank_spread = rounded(out.rank_spread);
  for (AcceleratorConditions& a : out.accelerators) {
    a.matrix_share = rounded(a.matrix_share);
    a.memory_share = rounded(a.memory_share);
    a.scale_up_share = rounded(a.scale_up_share);
    a.rows = accelerators[a.accelerator];
  }
  for (AttentionConditions& a : out.attention) {
    a.share = rounded(a.share);
    a.rows = attention[{a.kernel, a.architecture}];
  }
  for (NetworkConditions& n : out.networks) {
    n.share = rounded(n.share);
    n.rows = networks[n.technology];
  }
  return to_yaml(non_default_fields(out));
}

// With fewer, how sources differ, of which intervals are made, is not known.
constexpr std::size_t kFewestSources = 5;

// What each step consists of under these conditions.
Result<std::vector<StepShares>> shares_of_all(const StepFit& fit, std::span<const double> x,
                                              const Catalog& catalog, int threads) {
  const TrainingConditions conditions = fit.problem().conditions(x);
  std::vector<StepShares> out(fit.steps().size());
  std::vector<std::optional<Error>> errors(out.size());
  parallel_for(out.size(), threads_to_use(threads), [&](std::size_t i) {
    const auto predicted = predict(fit.steps()[i].scenario, catalog, conditions);
    if (predicted) {
      out[i] = shares_of(estimate(*predicted).breakdown);
    } else {
      errors[i] = at(fit.steps()[i].row_id, predicted.error());
    }
  });
  for (auto& error : errors) {
    if (error) return fail(std::move(*error));
  }
  return out;
}

Uncertainty uncertainty_of(const StepFit& fit, const CrossValidated& judged,
                           std::span<const StepShares> shares, const std::string& date) {
  Uncertainty out;
  std::vector<LeftOutStep> errors;
  std::set<StepPoint> points;
  for (std::size_t i = 0; i < fit.steps().size(); ++i) {
    const MeasuredStep& s = fit.steps()[i];
    StepPoint point = point_of(s.scenario.model, s.scenario.cluster, s.scenario.training,
                               s.scenario.software.name);
    const double digits = std::pow(10, 1 - std::floor(std::log10(point.parameters_b)));
    point.source = s.source_id;
    point.parameters_b = std::round(point.parameters_b * digits) / digits;
    points.insert(point);
    if (!judged.left_out[i] || judged_apart(s.source_id)) continue;
    errors.push_back({point, shares[i], std::log(s.measured.value()) - *judged.left_out[i]});
  }
  out.source = "orrery calibrate --cross-validate, " + date +
               ": errors of the complete rows of validation/measured, each source left out whole";
  out.measured.assign(points.begin(), points.end());
  const StepSpread spread = spread_of(errors, out.measured, out.level);
  const StepDeviations& d = spread.deviations;
  // No step is exact, however well its sources agree: a file that says so is refused.
  out.deviations = {std::max(rounded(d.step), 1e-4), rounded(d.attention), rounded(d.network),
                    rounded(d.waiting)};
  out.low = rounded(spread.low);
  out.high = rounded(spread.high);
  return out;
}

std::string held_out_file(const StepFit& fit, const StepExpansion& fitted,
                          const CrossValidated& judged) {
  std::vector<HeldOutStep> out;
  const auto add = [&](std::size_t i, Scheme scheme, int fold, double log_predicted) {
    const MeasuredStep& s = fit.steps()[i];
    out.push_back(
        {s.row_id, s.source_id, scheme, fold, s.measured, Seconds(std::exp(log_predicted))});
  };
  for (std::size_t i = 0; i < fit.steps().size(); ++i) {
    add(i, Scheme::fitted, 0, fitted.log_predicted[i]);
  }
  for (std::size_t i = 0; i < fit.steps().size(); ++i) {
    add(i, Scheme::five_fold, judged.fold[i], judged.five_fold[i]);
  }
  for (const auto& [scheme, log_predicted] :
       {std::pair{Scheme::leave_one_source_out, &judged.left_out},
        {Scheme::prior_means, &judged.prior_means},
        {Scheme::constant_rate, &judged.constant_rate},
        {Scheme::nearest_steps, &judged.nearest_steps}}) {
    for (std::size_t i = 0; i < fit.steps().size(); ++i) {
      if ((*log_predicted)[i]) add(i, scheme, judged.source[i], *(*log_predicted)[i]);
    }
  }
  return held_out_text(out);
}

Result<Calibration> calibrate_steps(std::span<const CommaSeparated> tables,
                                    const CalibrationRequest& request, int threads) {
  Calibration out;
  std::vector<MeasuredRow> rows;
  for (const CommaSeparated& table : tables) {
    ORRERY_TRY(MeasuredRows read, measured_rows(table));
    out.rows += table.records.size() + table.refused.size();
    out.problems.insert(out.problems.end(), read.problems.begin(), read.problems.end());
    for (MeasuredRow& row : read.rows) {
      if (request.accelerator.empty() || row.accelerator == request.accelerator) {
        rows.push_back(std::move(row));
      }
    }
  }
  for (RowProblem& problem : leave_out_repeats(rows)) out.problems.push_back(std::move(problem));
  std::vector<MeasuredStep> steps = measured_steps(rows, *request.catalog, threads, out.problems);
  out.used = steps.size();
  if (steps.empty()) return out;
  const StepFit fit(std::move(steps), *request.catalog, threads);
  ORRERY_TRY(const StepFit::Solution solution, fit.fit_all(kRounds));

  CalibrationReport report{
      .kind = "steps", .subject = "training", .parts = {}, .files = {}, .notes = {}};
  report.notes.push_back(fmt::format(
      "{} of {} rows are complete, expressible and state a step time; sources that vary "
      "much from run to run weigh less and are left out of the errors of all rows "
      "(validation/conventions/sources.yaml)",
      out.used, out.rows));
  ErrorSummary errors = errors_of(fit.steps(), known(solution.expansion.log_predicted), "");
  if (request.cross_validate) {
    ORRERY_TRY(const CrossValidated judged,
               cross_validated(fit, solution.expansion, request.folds));
    const auto five = known(judged.five_fold);
    errors = errors_of(fit.steps(), five, "");
    report.parts.push_back(part_of("step time, five-fold", fit, solution, &five));
    std::set<std::string> left_out;
    for (std::size_t i = 0; i < fit.steps().size(); ++i) {
      if (judged.left_out[i]) left_out.insert(fit.steps()[i].source_id);
    }
    if (!left_out.empty()) {
      report.parts.push_back(
          part_of("step time, leave one source out", fit, solution, &judged.left_out));
      report.parts.back().parameters.clear();  // those of the part before
    }
    if (left_out.size() >= kFewestSources) {
      ORRERY_TRY(const std::vector<StepShares> shares,
                 shares_of_all(fit, solution.expansion.x, *request.catalog, threads));
      ORRERY_TRY(std::string text,
                 uncertainty_file(uncertainty_of(fit, judged, shares, request.date)));
      report.files.push_back({"step/uncertainty.yaml", std::move(text)});
    } else {
      report.notes.push_back(fmt::format(
          "step/uncertainty.yaml is not written: intervals are made of the errors of {} sources or "
          "more that were left out, and here {} were; those of the catalog stay",
          kFewestSources, left_out.size()));
    }
    report.files.push_back({"held-out-steps.csv", held_out_file(fit, solution.expansion, judged)});
  } else {
    report.parts.push_back(part_of("step time", fit, solution, nullptr));
  }
  report.files.push_back(
      {"step/training.yaml", training_text(fit, solution, errors, request.date)});
  out.reports.push_back(std::move(report));
  return out;
}

}  // namespace

std::vector<MeasuredStep> measured_steps(const std::vector<MeasuredRow>& rows,
                                         const Catalog& catalog, int threads,
                                         std::vector<RowProblem>& problems) {
  std::vector<std::optional<MeasuredStep>> found(rows.size());
  std::vector<std::string> impossible(rows.size());
  parallel_for(rows.size(), threads_to_use(threads), [&](std::size_t i) {
    const MeasuredRow& row = rows[i];
    if (!row.missing.empty() || !row.step_time || row.status == "oom") return;
    auto scenario = scenario_of_row(row, catalog);
    if (!scenario) return;
    impossible[i] = impossible_measurement(row, scenario->scenario);
    if (!impossible[i].empty() || !predict(scenario->scenario, catalog)) return;
    found[i] = MeasuredStep{.row_id = row.row_id,
                            .source_id = row.source_id,
                            .key = row.source_id + ": " + row.model,
                            .scenario = std::move(scenario->scenario),
                            .measured = *row.step_time,
                            .weight = convention_of(row).fit_weight};
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!impossible[i].empty()) problems.push_back({rows[i].place(), impossible[i]});
  }
  std::vector<MeasuredStep> out;
  for (auto& step : found) {
    if (step) out.push_back(std::move(*step));
  }
  return out;
}

MeasurementKind step_measurements(int threads) {
  return {.name = "steps",
          .columns = "row_id, accelerator, num_gpus, ..., step_time_s (validation/measured)",
          .recognises = is_measured_rows,
          .calibrate = [threads](std::span<const CommaSeparated> tables,
                                 const CalibrationRequest& request) {
            return calibrate_steps(tables, request, threads);
          }};
}

}  // namespace orrery
