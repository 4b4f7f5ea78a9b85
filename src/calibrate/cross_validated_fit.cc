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

void CrossValidatedFit::add_part_of_rows(std::string name, std::span<const double> measured,
                                         const std::function<bool(std::size_t)>& choose) {
  std::vector<double> chosen;
  std::vector<double> own;
  std::vector<double> other;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!choose(i)) continue;
    chosen.push_back(measured[i]);
    own.push_back(predicted[i]);
    if (!held_out.empty()) other.push_back(held_out[i]);
  }
  if (chosen.empty()) return;
  PartOfRows out{std::move(name), fit_errors(own, chosen), std::nullopt};
  if (!held_out.empty()) out.held_out = fit_errors(other, chosen);
  part.of_which.push_back(std::move(out));
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
  out.part.in_sample = fit_errors(out.predicted, task.measured);

  const std::set<std::string_view> distinct(task.keys.begin(), task.keys.end());
  const int used = std::min(folds, static_cast<int>(distinct.size()));
  if (used < 2) return out;
  // A fold begins where all rows together ended: that saves the search for the right valley.
  const std::vector<double> start = out.fit.values();
  ORRERY_TRY(
      out.held_out,
      predict_held_out(fold_of_each(task.keys, used),
                       [&](std::span<const std::size_t> fitted,
                           std::span<const std::size_t> rest) -> Result<std::vector<double>> {
                         ORRERY_TRY(const Fit fold, fit_rows(task, fitted, start));
                         std::vector<double> predicted(rest.size());
                         task.predict(fold.values(), rest, predicted);
                         return predicted;
                       }));
  out.part.held_out = fit_errors(out.held_out, task.measured);
  return out;
}

}  // namespace orrery
