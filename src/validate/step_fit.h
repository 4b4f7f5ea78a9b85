// Fits training conditions to measured steps, and predicts steps that were held out.
//
//   minimise  Σ w_i² f(log(predicted_i(x) / measured_i))²  +  Σ ((x_j - expected_j) / spread_j)² k²
//
// f is the soft L1 of calibrate/fit.h; w_i = (mean rows a source / rows of its source)^¼, so that
// the largest grid does not decide alone; k is the residual of a row that counts as one standard
// deviation of a prior. The logarithm of a predicted step is replaced by its linear expansion
// around the last solution and solved by calibrate/fit.h, a few times over; of the way to its
// solution the longest half, quarter ... is gone that really lowers the sum. Some of the rows are
// fitted the same way, from there on: only the derivatives of log(predicted), which change little,
// stay those of all rows. What is published of a held-out row is an estimate under the conditions
// of the fit that had not seen it, not the expansion.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit.h"
#include "catalog/catalog.h"
#include "estimate/scenario.h"
#include "validate/step_problem.h"

namespace orrery {

struct MeasuredStep {
  std::string row_id, source_id;
  std::string key;  // source and model: steps that share it are fitted or held out together
  Scenario scenario;
  Seconds measured;
  double weight = 1;
};

// Predictions of all steps under some conditions and their derivatives: log(predicted) near x.
struct StepExpansion {
  std::vector<double> x;
  std::vector<double> log_predicted;                        // by step
  std::vector<std::vector<ConcernedCoordinate>> concerned;  // by step, ascending
  std::vector<std::vector<double>> derivative;              // by step, beside `concerned`
};

class StepFit {
 public:
  StepFit(std::vector<MeasuredStep> steps, const Catalog& catalog, int threads);

  [[nodiscard]] const std::vector<MeasuredStep>& steps() const { return steps_; }
  [[nodiscard]] const StepProblem& problem() const { return problem_; }

  // log(predicted) of these steps.
  [[nodiscard]] Result<std::vector<double>> predict(std::span<const double> x,
                                                    std::span<const std::size_t> steps) const;
  [[nodiscard]] Result<StepExpansion> expand(std::span<const double> x) const;
  // The best point for these steps on the expansion.
  [[nodiscard]] Result<Fit> solve(const StepExpansion& expansion,
                                  std::span<const std::size_t> steps) const;
  // Solves and expands in turn, until nothing is gained or for so many rounds.
  struct Solution {
    Fit fit;
    StepExpansion expansion;  // around the solution
  };
  [[nodiscard]] Result<Solution> fit_all(int rounds) const;
  // The point that fits these steps alone, sought from an expansion of all.
  [[nodiscard]] Result<std::vector<double>> refit(StepExpansion expansion,
                                                  std::span<const std::size_t> steps) const;

 private:
  [[nodiscard]] std::vector<double> weights_of(std::span<const std::size_t> steps) const;
  // Of steps whose predictions are given, one for each.
  [[nodiscard]] double objective(std::span<const double> x, std::span<const std::size_t> steps,
                                 std::span<const double> log_predicted) const;
  // From the expansion's point towards the best one on it: as far as the sum really falls.
  struct Advance {
    Fit fit;
    std::vector<double> x;
    std::vector<double> log_predicted;  // of the steps that are fitted
    double least = 0;
    bool better = false;
  };
  [[nodiscard]] Result<Advance> advance(const StepExpansion& from,
                                        std::span<const std::size_t> steps, double least) const;

  std::vector<MeasuredStep> steps_;
  const Catalog& catalog_;
  int threads_;
  StepProblem problem_;
};

}  // namespace orrery
