#include "calibrate/cross_validated_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "calibrate/folds.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

// From `start`, or from the starts of the task.
Result<Fit> fit_rows(const FitTask& task, std::span<const std::size_t> rows,
                     std::span<const double> start) {
  std::vector<FitParameter> parameters = task.parameters;
  FitOptions options = task.options;
  for (std::size_t j = 0; j < start.size(); ++j) parameters[j].start = start[j];
  if (!start.empty()) options.more_starts.clear();
  return fit(
      parameters, rows.size(),
      [&](std::span<const double> x, std::span<double> residuals) {
        task.predict(x, rows, residuals);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          residuals[i] = std::log(residuals[i] / task.measured[rows[i]]);
        }
      },
      options);
}

}  // namespace

void CrossValidatedFit::judge(std::span<const double> measured) {
  const auto of = [&](const std::vector<double>& predictions) {
    return predictions.empty() ? std::vector<double>() : relative_errors(predictions, measured);
  };
  part.errors = {of(predicted), of(held_out), of(left_out)};
  part.in_sample = error_summary(part.errors.in_sample);
  if (!held_out.empty()) part.held_out = error_summary(part.errors.held_out);
  if (!left_out.empty()) part.left_out = error_summary(part.errors.left_out);
}

void CrossValidatedFit::add_part_of_rows(std::string name, std::span<const double> measured,
                                         const std::function<bool(std::size_t)>& choose) {
  const auto chosen = [&](std::span<const double> all) {
    std::vector<double> out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (choose(i)) out.push_back(all[i]);
    }
    return out;
  };
  const std::vector<double> times = chosen(measured);
  if (times.empty()) return;
  const auto errors = [&](std::span<const double> all) -> std::optional<ErrorSummary> {
    if (all.empty()) return std::nullopt;
    return fit_errors(chosen(all), times);
  };
  part.of_which.push_back(
      {std::move(name), *errors(predicted), errors(held_out), errors(left_out)});
}

Result<std::vector<double>> fit_and_predict(const FitTask& task,
                                            std::span<const std::size_t> fitted,
                                            std::span<const double> start,
                                            std::span<const std::size_t> rest) {
  ORRERY_TRY(const Fit done, fit_rows(task, fitted, start));
  std::vector<double> predicted(rest.size());
  task.predict(done.values(), rest, predicted);
  return predicted;
}

Result<CrossValidatedFit> cross_validated_fit(const FitTask& task, int folds) {
  ORRERY_INVARIANT(task.keys.size() == task.measured.size());
  std::vector<std::size_t> all(task.measured.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  CrossValidatedFit out;
  ORRERY_TRY(out.fit, fit_rows(task, all, {}));
  out.predicted.resize(all.size());
  task.predict(out.fit.values(), all, out.predicted);
  out.part.name = task.name;
  out.part.parameters = out.fit.parameters;
  const std::set<std::string_view> distinct(task.keys.begin(), task.keys.end());
  const int used = std::min(folds, static_cast<int>(distinct.size()));
  if (used > 1) {
    // A fold begins where all rows together ended: that saves the search for the right valley.
    const std::vector<double> start = out.fit.values();
    ORRERY_TRY(out.held_out, predict_held_out(fold_of_each(task.keys, used),
                                              [&](std::span<const std::size_t> fitted,
                                                  std::span<const std::size_t> rest) {
                                                return fit_and_predict(task, fitted, start, rest);
                                              }));
  }
  out.judge(task.measured);
  return out;
}

}  // namespace orrery
