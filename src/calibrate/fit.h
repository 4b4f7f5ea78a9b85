// Robust, bounded, non-linear least squares: a thin layer over Ceres.
//
//   minimise  ½ Σ f(r_i(x))²   over  least <= x <= most
//   f(r) = sign(r)·c·√(2·(√(1 + (r/c)²) - 1))        "soft L1": r²/2 near 0, c·|r| far away
//
// r_i is usually log(predicted / measured) of row i: relative errors, symmetric in too fast and too
// slow. The influence of an outlier grows with its distance, not with the square of it. One call
// computes the residuals of all rows, so that terms of the parameters alone are computed once.
// Derivatives are central differences (one-sided at a bound) of `step` times the parameter's range,
// wide enough to smooth out the small jumps of models with tiles and waves.
//
// Standard errors: σ²·(JᵀJ)⁻¹ at the solution over the parameters that are not at a bound, with
// σ² = Σ f² / (rows - free parameters). Nothing for a parameter at a bound or one the data do not
// determine. Rows are assumed to be independent, which measurements of one machine are not quite,
// so standard errors are lower bounds.
//
// Of several starts, the best result is kept (the first among equals). Deterministic: one thread,
// no random numbers, no time limit. Source: Agarwal, Mierle et al., Ceres Solver (trust region,
// Levenberg-Marquardt with bounds); Triggs et al. 2000 for the robust loss.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "outcome/result.h"

namespace orrery {

struct FitParameter {
  std::string name;
  std::string unit;  // empty: a pure number
  double start = 0;
  double least = 0;
  double most = 1;
  double step = 1e-3;  // of the derivative, as a share of most - least
};

// Fills one residual for every row. Must be finite for every x within the bounds.
using Residuals = std::function<void(std::span<const double> x, std::span<double> residuals)>;

struct FitOptions {
  double robust_scale = 0.1;  // c: larger residuals count linearly; 0: least squares
  int max_iterations = 100;
  std::vector<std::vector<double>> more_starts;  // each as long as the parameters
};

struct FittedParameter {
  std::string name;
  std::string unit;
  double value = 0;
  std::optional<double> standard_error;
  bool at_bound = false;
};

struct Fit {
  std::vector<FittedParameter> parameters;  // in the order given
  std::vector<double> covariance;           // rows x columns by parameter; 0 where not determined
  double cost = 0;                          // the minimum
  std::size_t rows = 0;
  int iterations = 0;  // of the start that was kept
  bool converged = false;

  [[nodiscard]] std::vector<double> values() const;
};

// Errors: no rows, fewer rows than parameters, a start outside its bounds, empty bounds, or a
// residual that is not finite at a start.
Result<Fit> fit(std::span<const FitParameter> parameters, std::size_t rows,
                const Residuals& residuals, const FitOptions& options = {});

// A fitted number above 0 with the digits that are written; 0 for others.
double three_digits(double value);

inline constexpr double kMicro = 1e-6;         // of parameters in us
inline constexpr double kKernelRobust = 0.05;  // the robust scale of times of kernels

}  // namespace orrery
