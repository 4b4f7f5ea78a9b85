#include "validate/step_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "parallel/parallel_for.h"

namespace orrery {
namespace {

constexpr double kPriorScale = 0.1;  // k: the robust scale of a row
constexpr double kDamping = 0.6;

std::vector<Cluster> clusters_of(const std::vector<MeasuredStep>& steps) {
  std::vector<Cluster> out;
  out.reserve(steps.size());
  for (const MeasuredStep& s : steps) out.push_back(s.scenario.cluster);
  return out;
}

}  // namespace

StepFit::StepFit(std::vector<MeasuredStep> steps, const Catalog& catalog, int threads)
    : steps_(std::move(steps)),
      catalog_(catalog),
      threads_(threads_to_use(threads)),
      problem_(clusters_of(steps_)) {}

Result<std::vector<double>> StepFit::predict(std::span<const double> x,
                                             std::span<const std::size_t> steps) const {
  const TrainingConditions conditions = problem_.conditions(x);
  std::vector<double> out(steps.size());
  std::vector<std::optional<Error>> errors(steps.size());
  parallel_for(steps.size(), threads_, [&](std::size_t k) {
    const auto predicted = estimate(steps_[steps[k]].scenario, catalog_, conditions);
    if (predicted) {
      out[k] = std::log(predicted->step_time.value());
    } else {
      errors[k] = at(steps_[steps[k]].row_id, predicted.error());
    }
  });
  for (auto& error : errors) {
    if (error) return fail(std::move(*error));
  }
  return out;
}

Result<StepExpansion> StepFit::expand(std::span<const double> x) const {
  StepExpansion out;
  out.x.assign(x.begin(), x.end());
  std::vector<std::size_t> all(steps_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  ORRERY_TRY(out.log_predicted, predict(x, all));
  out.derivative.resize(steps_.size());
  for (const MeasuredStep& s : steps_) {
    out.concerned.push_back(problem_.concerned(s.scenario.cluster));
  }
  for (std::size_t i = 0; i < all.size(); ++i) out.derivative[i].resize(out.concerned[i].size());
  // One coordinate after the other, for the steps it concerns.
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::vector<std::size_t> steps;
    std::vector<std::size_t> places;
    for (const std::size_t i : all) {
      const auto& c = out.concerned[i];
      const auto found = std::find(c.begin(), c.end(), j);
      if (found == c.end()) continue;
      steps.push_back(i);
      places.push_back(static_cast<std::size_t>(found - c.begin()));
    }
    const StepCoordinate& coordinate = problem_.coordinates()[j];
    // Towards the inside at a bound.
    const double step =
        x[j] + coordinate.step <= coordinate.most ? coordinate.step : -coordinate.step;
    std::vector<double> moved(x.begin(), x.end());
    moved[j] += step;
    ORRERY_TRY(const std::vector<double> there, predict(moved, steps));
    for (std::size_t k = 0; k < steps.size(); ++k) {
      out.derivative[steps[k]][places[k]] = (there[k] - out.log_predicted[steps[k]]) / step;
    }
  }
  return out;
}

Result<Fit> StepFit::solve(const StepExpansion& e, std::span<const std::size_t> steps) const {
  const std::vector<StepCoordinate>& coordinates = problem_.coordinates();
  std::map<std::string, double> of_source;
  for (const std::size_t i : steps) of_source[steps_[i].source_id] += 1;
  const double mean = static_cast<double>(steps.size()) / static_cast<double>(of_source.size());

  std::vector<FitParameter> parameters;
  for (std::size_t j = 0; j < coordinates.size(); ++j) {
    const StepCoordinate& c = coordinates[j];
    parameters.push_back({.name = c.name,
                          .unit = c.unit,
                          .start = std::clamp(e.x[j], c.least, c.most),
                          .least = c.least,
                          .most = c.most});
  }
  std::vector<double> weights;
  for (const std::size_t i : steps) {
    weights.push_back(steps_[i].weight * std::pow(mean / of_source[steps_[i].source_id], 0.25));
  }
  const auto residuals = [&](std::span<const double> x, std::span<double> out) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const std::size_t i = steps[k];
      double r = e.log_predicted[i] - std::log(steps_[i].measured.value());
      for (std::size_t d = 0; d < e.concerned[i].size(); ++d) {
        const std::size_t j = e.concerned[i][d];
        r += e.derivative[i][d] * (x[j] - e.x[j]);
      }
      out[k] = weights[k] * r;
    }
    for (std::size_t j = 0; j < coordinates.size(); ++j) {
      out[steps.size() + j] =
          kPriorScale * (x[j] - coordinates[j].expected) / coordinates[j].spread;
    }
  };
  return fit(parameters, steps.size() + coordinates.size(), residuals,
             {.robust_scale = kPriorScale, .max_iterations = 100, .more_starts = {}});
}

Result<StepFit::Solution> StepFit::fit_all(int rounds) const {
  std::vector<double> x;
  for (const StepCoordinate& c : problem_.coordinates()) x.push_back(c.expected);
  std::vector<std::size_t> all(steps_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Solution out;
  for (int round = 0; round < rounds; ++round) {
    ORRERY_TRY(out.expansion, expand(x));
    ORRERY_TRY(out.fit, solve(out.expansion, all));
    // The way back and forth around a kink is shortened; the last round goes all the way.
    const std::vector<double> best = out.fit.values();
    const double share = round == 0 || round + 1 == rounds ? 1 : kDamping;
    for (std::size_t j = 0; j < x.size(); ++j) x[j] += share * (best[j] - x[j]);
  }
  ORRERY_TRY(out.expansion, expand(x));
  return out;
}

}  // namespace orrery
