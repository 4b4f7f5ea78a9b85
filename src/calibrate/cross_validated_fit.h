// One fit of relative errors with its cross-validation, as most calibrations need it.
//
// Residuals are log(predicted / measured). Folds are chosen by `keys` (folds.h), usually the shape.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "calibrate/fit.h"
#include "units/quantity.h"

namespace orrery {

// Fills the prediction of each of `rows` under parameters x; all must be above 0.
using Predictor = std::function<void(std::span<const double> x, std::span<const std::size_t> rows,
                                     std::span<double> predicted)>;

struct FitTask {
  std::string name;
  std::vector<FitParameter> parameters;
  std::vector<double> measured;
  std::vector<std::string> keys;  // one for each row
  Predictor predict;
  FitOptions options;
};

// The task of rows that outlive it: `key_of(row)` chooses the fold, and `model_with(x)` is what
// predicts the time of a row under parameters x.
template <class Row, class KeyOf, class ModelWith>
FitTask fit_task(std::string name, std::vector<FitParameter> parameters, std::span<const Row> rows,
                 Seconds Row::* measured, KeyOf key_of, ModelWith model_with) {
  FitTask out{std::move(name), std::move(parameters), {}, {}, {}, {}};
  for (const Row& row : rows) {
    out.measured.push_back((row.*measured).value());
    out.keys.push_back(key_of(row));
  }
  out.predict = [rows, model_with](std::span<const double> x, std::span<const std::size_t> chosen,
                                   std::span<double> predicted) {
    const auto row_time = model_with(x);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      predicted[i] = row_time(rows[chosen[i]]).value();
    }
  };
  return out;
}

struct CrossValidatedFit {
  Fit fit;
  std::vector<double> predicted;
  std::vector<double> held_out;  // empty without cross-validation
  std::vector<double> left_out;  // of systems that are not fitted; empty where none are told apart
  CalibratedPart part;

  // Fills what `part` says of all rows from the predictions.
  void judge(std::span<const double> measured);
  // The errors of the rows for which `choose` holds, under a name; nothing if there are none.
  void add_part_of_rows(std::string name, std::span<const double> measured,
                        const std::function<bool(std::size_t)>& choose);
};

// What a fit of the rows `fitted`, from `start` or, where that is empty, from the task's starts,
// predicts of the rows `rest`. Errors: those of fit().
Result<std::vector<double>> fit_and_predict(const FitTask& task,
                                            std::span<const std::size_t> fitted,
                                            std::span<const double> start,
                                            std::span<const std::size_t> rest);

// `folds` 0: no cross-validation. Fewer distinct keys than folds: as many folds as keys. Errors:
// those of fit().
Result<CrossValidatedFit> cross_validated_fit(const FitTask& task, int folds);

}  // namespace orrery
