#include "calibrate/fit.h"

#include <ceres/ceres.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

double soften(double r, double scale) {
  if (!(scale > 0)) return r;
  const double u = r / scale;
  // √(1 + u²) - 1 without cancellation.
  const double excess = u * u / (std::sqrt(1 + u * u) + 1);
  return std::copysign(scale * std::sqrt(2 * excess), r);
}

class Rows final : public ceres::CostFunction {
 public:
  Rows(std::span<const FitParameter> parameters, std::size_t rows, const Residuals& residuals,
       double scale)
      : parameters_(parameters), rows_(rows), residuals_(residuals), scale_(scale) {
    mutable_parameter_block_sizes()->push_back(static_cast<int>(parameters.size()));
    set_num_residuals(static_cast<int>(rows));
  }

  void softened(std::span<const double> x, std::span<double> out) const {
    residuals_(x, out);
    for (double& r : out) r = soften(r, scale_);
  }

  // Row-major: one row a residual.
  void jacobian(std::span<const double> x, double* out) const {
    std::vector<double> moved(x.begin(), x.end());
    std::vector<double> above(rows_);
    std::vector<double> below(rows_);
    for (std::size_t j = 0; j < parameters_.size(); ++j) {
      const FitParameter& p = parameters_[j];
      const double h = p.step * (p.most - p.least);
      const double high = std::min(p.most, x[j] + h);
      const double low = std::max(p.least, x[j] - h);
      moved[j] = high;
      softened(moved, above);
      moved[j] = low;
      softened(moved, below);
      moved[j] = x[j];
      for (std::size_t i = 0; i < rows_; ++i) {
        out[i * parameters_.size() + j] = (above[i] - below[i]) / (high - low);
      }
    }
  }

  bool Evaluate(double const* const* blocks, double* out, double** jacobians) const override {
    const std::span<const double> x(blocks[0], parameters_.size());
    softened(x, std::span<double>(out, rows_));
    for (std::size_t i = 0; i < rows_; ++i) {
      if (!std::isfinite(out[i])) return false;
    }
    if (jacobians != nullptr && jacobians[0] != nullptr) jacobian(x, jacobians[0]);
    return true;
  }

 private:
  std::span<const FitParameter> parameters_;
  std::size_t rows_;
  const Residuals& residuals_;
  double scale_;
};

// At a bound within a millionth of the range.
bool is_at_bound(const FitParameter& p, double x) {
  const double slack = 1e-6 * (p.most - p.least);
  return x <= p.least + slack || x >= p.most - slack;
}

void add_covariance(std::span<const FitParameter> parameters, const Rows& rows_function,
                    std::size_t rows, Fit& fit) {
  const std::size_t count = parameters.size();
  fit.covariance.assign(count * count, 0);
  std::vector<std::size_t> free;
  for (std::size_t j = 0; j < count; ++j) {
    if (!fit.parameters[j].at_bound) free.push_back(j);
  }
  if (free.empty() || rows <= free.size()) return;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix all(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(count));
  rows_function.jacobian(fit.values(), all.data());
  Eigen::MatrixXd j(all.rows(), static_cast<Eigen::Index>(free.size()));
  Eigen::VectorXd norms(j.cols());
  for (Eigen::Index c = 0; c < j.cols(); ++c) {
    j.col(c) = all.col(static_cast<Eigen::Index>(free[static_cast<std::size_t>(c)]));
    norms[c] = j.col(c).norm();
    if (norms[c] > 0) j.col(c) /= norms[c];
  }
  const double variance = 2 * fit.cost / static_cast<double>(rows - free.size());
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(j.transpose() * j, Eigen::ComputeThinV);
  // Directions the rows do not see leave the parameters they touch without an error.
  constexpr double kLeastSeen = 1e-10;
  Eigen::VectorXd inverse(j.cols());
  std::vector<bool> determined(free.size(), true);
  for (Eigen::Index k = 0; k < j.cols(); ++k) {
    const double s = svd.singularValues()[k];
    const bool seen = s > kLeastSeen * svd.singularValues()[0];
    inverse[k] = seen ? 1 / s : 0;
    for (Eigen::Index c = 0; !seen && c < j.cols(); ++c) {
      if (std::abs(svd.matrixV()(c, k)) > 0.1) determined[static_cast<std::size_t>(c)] = false;
    }
  }
  const Eigen::MatrixXd covariance =
      variance * svd.matrixV() * inverse.asDiagonal() * svd.matrixV().transpose();
  for (std::size_t a = 0; a < free.size(); ++a) {
    for (std::size_t b = 0; b < free.size(); ++b) {
      const auto i = static_cast<Eigen::Index>(a);
      const auto k = static_cast<Eigen::Index>(b);
      if (!determined[a] || !determined[b] || norms[i] <= 0 || norms[k] <= 0) continue;
      fit.covariance[free[a] * count + free[b]] = covariance(i, k) / (norms[i] * norms[k]);
    }
    const double own = fit.covariance[free[a] * count + free[a]];
    if (own > 0) fit.parameters[free[a]].standard_error = std::sqrt(own);
  }
}

// Eigen, which Ceres computes with, cuts products into pieces that fit the caches of the machine it
// runs on, and the pieces decide how sums are rounded: the last digits of a fit would depend on the
// machine. The catalog was fitted with these sizes, of the first to the third level; they hold for the
// whole process.
void fix_order_of_sums() { Eigen::setCpuCacheSizes(48 << 10, 512 << 10, 8 << 20); }

Failure refused(std::string message, std::string hint) {
  return bad_input(std::move(message), "fit", std::move(hint));
}

}  // namespace

std::vector<double> Fit::values() const {
  std::vector<double> out;
  out.reserve(parameters.size());
  for (const FittedParameter& p : parameters) out.push_back(p.value);
  return out;
}

Result<Fit> fit(std::span<const FitParameter> parameters, std::size_t rows,
                const Residuals& residuals, const FitOptions& options) {
  if (parameters.empty() || rows < parameters.size()) {
    return refused(std::to_string(rows) + " rows cannot determine " +
                       std::to_string(parameters.size()) + " parameters",
                   "at least one parameter, and at least as many rows");
  }
  std::vector<std::vector<double>> starts(1);
  for (const FitParameter& p : parameters) starts[0].push_back(p.start);
  starts.insert(starts.end(), options.more_starts.begin(), options.more_starts.end());
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const FitParameter& p = parameters[j];
    if (!(p.least < p.most)) return refused("the bounds of '" + p.name + "' are empty", "");
    for (const auto& x : starts) {
      if (x.size() != parameters.size() || !(x[j] >= p.least && x[j] <= p.most)) {
        return refused("a start of '" + p.name + "' is outside its bounds", "");
      }
    }
  }

  fix_order_of_sums();
  Fit best;
  std::vector<double> at_start(rows);
  for (const auto& start : starts) {
    residuals(start, at_start);
    if (!std::ranges::all_of(at_start, [](double r) { return std::isfinite(r); })) {
      return refused("the residuals at a start are not finite", "");
    }
    std::vector<double> x = start;
    auto* rows_function = new Rows(parameters, rows, residuals, options.robust_scale);
    ceres::Problem problem;  // owns the function
    problem.AddResidualBlock(rows_function, nullptr, x.data());
    for (std::size_t j = 0; j < parameters.size(); ++j) {
      problem.SetParameterLowerBound(x.data(), static_cast<int>(j), parameters[j].least);
      problem.SetParameterUpperBound(x.data(), static_cast<int>(j), parameters[j].most);
    }
    ceres::Solver::Options how;
    how.linear_solver_type = ceres::DENSE_QR;
    how.max_num_iterations = options.max_iterations;
    how.num_threads = 1;
    how.logging_type = ceres::SILENT;
    how.function_tolerance = 1e-8;
    how.parameter_tolerance = 1e-8;
    ceres::Solver::Summary summary;
    ceres::Solve(how, &problem, &summary);
    if (!best.parameters.empty() && !(summary.final_cost < best.cost)) continue;
    best = Fit();
    best.cost = summary.final_cost;
    best.rows = rows;
    best.iterations = static_cast<int>(summary.iterations.size());
    best.converged = summary.termination_type == ceres::CONVERGENCE;
    for (std::size_t j = 0; j < parameters.size(); ++j) {
      const FitParameter& p = parameters[j];
      const double value = std::clamp(x[j], p.least, p.most);
      best.parameters.push_back({p.name, p.unit, value, std::nullopt, is_at_bound(p, value)});
    }
  }
  const Rows rows_function(parameters, rows, residuals, options.robust_scale);
  add_covariance(parameters, rows_function, rows, best);
  return best;
}

double three_digits(double value) {
  if (!(value > 0)) return 0;
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

}  // namespace orrery
